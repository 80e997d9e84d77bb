"""The virtual cluster: torch.distributed in virtual time, deterministic, with exact reports of what goes wrong.

A discrete-event simulation that executes the program: each rank is a thread, one of them runs at a time, and a clock
per rank advances by what the cluster's devices and links would need. Private API of torch is used in ``backend`` and in
the files that its docstring names.

Read in this order:

    cluster_process              run_virtual: the child process that is the cluster, and the side that waits for it
    simulation                   one run: the lives of its ranks, what they may post, and how a run ends
    scheduler                    the baton: one rank at a time, always the one with the smallest virtual clock
    network                      when communication takes place: links, ports, one-port full-duplex model (alpha-beta)
    nccl_queues                  the order in which NCCL executes what a rank posts: a queue per pair and per group
    data_movement                what a message or a collective does to the tensors
    clock                        how long a tensor operation takes on the device: roofline, FLOPs, bytes
    event_log                    compute and communication as events of the Trace
    rank_states                  deadlock detection: what each rank waits for or polls, and its line
    out_of_memory                the error of a rank that needs more memory than its device has
    supervisor                   the host's side: CPU pinning, stuck ranks, the time limit
    host_time                    the clock of limits, which stands still while other programs have the run's core
    backend                      torch.distributed in this process: init_process_group, new_group, the store
    process_group                a rank's end of a process group: send, recv, all collectives
    in_flight                    buffers between an asynchronous call and its wait(): what arrives, who uses it early
    timeouts                     waits that give up: work.wait(timeout), new_group(timeout=), monitored_barrier
    work                         Work and Future of an asynchronous operation; wait_all, collect_all
    simulator_interface          what a rank's thread may ask of the simulation (a typing.Protocol)
    rank_threads                 time.sleep, print, random for each rank; threads that ranks start
    rank_environment             os.environ for each rank, and for the processes that it starts
    process_state                cwd, umask and a script's sys.argv, exchanged when the baton passes
    rank_loggers                 logging for each rank
    signals                      signal handlers of ranks, which are kept and never called
    errands                      communication of a rank's threads, done by the rank while it waits for them
    checkpoints                  async_save, which a rank does itself instead of a thread
    random_streams               the random number streams of each rank: random, NumPy, torch
    module_isolation             sys.modules for each rank: the learner's own modules are imported by each anew
    torch_process_state          what torch keeps per process: Kineto's trace, loss_parallel, torch.compile
    after_import                 to change a module of torch when a program imports it, and not to import it for that
    nested_runs                  run() inside a rank, for exercises in which the learner writes a test
    fake_simulation              run(fake=True): ranks with shapes, times and memory, without data (FakeTensorMode)
    fake_torch                   what must be changed in torch for that: meshes, fully_shard, device="cuda"
    fake_functional_collectives  _functional_collectives and DTensor's traffic without data
    fake_pickling                arguments become fake tensors, return values meta tensors
    tape                         what a rank asks for in each instruction of a program, recorded once
    players                      play tapes on a whole cluster, one player for all ranks that do the same
"""

from lockstep.virtual.cluster_process import run_virtual

__all__ = ["run_virtual"]
