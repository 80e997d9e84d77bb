"""Files in Chrome's trace format: those of `lockstep run --trace`, and those that a profiler has written.

Read in this order:

    json_stream     a file, compressed or not, value by value: no more of it is held than one event
    events_of_file  its events, each as strict as the format says it
    spans           what lasted from when to when on which thread or stream, of any such file
    kinds           computing, copying, communicating: by the names that torch, NCCL and gloo give
    run_of_file     the Trace of a file that Lockstep has written
    findings        what took longest, how idle a stream was, how much communication was hidden

Source of the format: "Trace Event Format" by the authors of Chrome's catapult, and for what torch.profiler writes
pytorch/kineto, libkineto/src/output_json.cpp.
"""
