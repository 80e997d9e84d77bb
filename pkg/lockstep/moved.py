"""Modules that have moved: a notebook made with version 0.1 imports them by their old names, and gets them under these.

Until version 0.3. A name that Lockstep itself uses is a new one.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "checks.assess": "checks.verdict",
    "checks.closer": "checks.closer_look",
    "checks.kept": "checks.unchanged_arguments",
    "checks.play": "checks.rank_program",
    "checks.standard": "checks.default_judge",
    "classical.audit.notes": "experiments.scikit_learn.lecture_notes",
    "classical.called": "exercises.scikit_learn.called",
    "classical.driven": "experiments.scikit_learn.your_line",
    "classical.fits": "exercises.scikit_learn.fits",
    "classical.folds": "exercises.scikit_learn.folds",
    "classical.room": "exercises.scikit_learn.room",
    "classical.scripted": "exercises.scikit_learn.scripted",
    "classical.tasks": "exercises.scikit_learn.tasks",
    "collectives.counts": "experiments.communication.counts",
    "collectives.notes": "experiments.communication.lecture_notes",
    "collectives.patterns": "experiments.communication.patterns",
    "comm.facts": "comm.restricted_pickle",
    "cpu.accumulators": "experiments.cpu.accumulators",
    "cpu.blocks": "experiments.cpu.blocks",
    "cpu.branches": "experiments.cpu.branches",
    "cpu.distances": "experiments.cpu.distances",
    "cpu.driven": "experiments.cpu.your_line",
    "cpu.latency": "experiments.cpu.latency",
    "cpu.lines": "exercises.cpu.lines",
    "cpu.naive": "experiments.cpu.naive",
    "cpu.numa": "experiments.cpu.numa",
    "cpu.observed": "exercises.cpu.observed",
    "cpu.placed": "experiments.cpu.placed",
    "cpu.roofs": "experiments.cpu.roofs",
    "cpu.rungs": "experiments.cpu.rungs",
    "cpu.side_by_side": "experiments.cpu.side_by_side",
    "cpu.topology": "experiments.cpu.topology",
    "cpu.trial": "exercises.cpu.trial",
    "cpu.twins": "cpu.rebound",
    "data_parallel.beside_torch": "experiments.all_reduce_sgd.compared_with_torch",
    "data_parallel.data_server": "experiments.all_reduce_sgd.data_server",
    "data_parallel.driven": "experiments.all_reduce_sgd.your_line",
    "data_parallel.equivalence": "experiments.all_reduce_sgd.equivalence",
    "data_parallel.forgiving": "experiments.all_reduce_sgd.forgiving",
    "data_parallel.hiding": "experiments.all_reduce_sgd.hiding",
    "data_parallel.learning_rate": "experiments.all_reduce_sgd.learning_rate",
    "data_parallel.regression": "experiments.all_reduce_sgd.regression",
    "data_parallel.resnet50": "experiments.all_reduce_sgd.resnet50",
    "data_parallel.shares": "exercises.all_reduce_sgd.shares",
    "data_parallel.torch_data_parallel": "experiments.all_reduce_sgd.torch_data_parallel",
    "experts.assigned": "experiments.mixture_of_experts.assigned",
    "experts.beside_torch": "experts.compared_with_torch",
    "experts.drawn_experts": "exercises.mixture_of_experts.drawn_experts",
    "experts.drawn_loads": "exercises.mixture_of_experts.drawn_loads",
    "experts.driven": "experiments.mixture_of_experts.your_line",
    "experts.flowing": "exercises.mixture_of_experts.observed_calls",
    "experts.gpt_on_ranks": "experiments.mixture_of_experts.gpt_on_ranks",
    "experts.loads": "experiments.mixture_of_experts.loads",
    "experts.noted_experts": "exercises.mixture_of_experts.noted_experts",
    "experts.observed_depths": "exercises.mixture_of_experts.observed_depths",
    "experts.observed_gate": "exercises.mixture_of_experts.observed_gate",
    "experts.observed_loss": "exercises.mixture_of_experts.observed_loss",
    "experts.published": "experiments.mixture_of_experts.published",
    "experts.quality": "experiments.mixture_of_experts.quality",
    "experts.table": "experiments.mixture_of_experts.table",
    "experts.the_notes": "experiments.mixture_of_experts.lecture_notes",
    "explain": "deadlock_report",
    "launch.checkup": "this_machine.checkup",
    "launch.child": "forking.child",
    "launch.doctor": "this_machine.doctor",
    "launch.exchange": "launchers.exchange",
    "launch.forkserver": "forking.forkserver",
    "launch.frozen": "forking.gc_freeze",
    "launch.hardware": "this_machine.hardware",
    "launch.host": "this_machine.host",
    "launch.hugepages": "forking.hugepages",
    "launch.launchers": "launchers.detection",
    "launch.measure": "this_machine.measure",
    "launch.part": "launchers.one_rank",
    "launch.pool": "launch.processes",
    "launch.request": "forking.request",
    "launch.server": "forking.starter",
    "launch.spares": "forking.spawned",
    "launch.spmd": "launchers.spmd",
    "launch.survey": "this_machine.survey",
    "launch.warm_pool": "forking.preforked",
    "pipeline.beside_torch": "pipeline.compared_with_torch",
    "pipeline.branched_runs": "experiments.pipeline.branched_runs",
    "pipeline.branches": "experiments.pipeline.branches",
    "pipeline.data_or_model": "experiments.pipeline.data_or_model",
    "pipeline.drawn": "experiments.pipeline.drawn",
    "pipeline.driven": "experiments.pipeline.your_line",
    "pipeline.gpt_stages": "experiments.pipeline.gpt_stages",
    "pipeline.held": "experiments.pipeline.held",
    "pipeline.noted_passes": "exercises.pipeline.noted_passes",
    "pipeline.notes": "experiments.pipeline.notes_sample",
    "pipeline.observed_worker": "exercises.pipeline.observed_worker",
    "pipeline.placement": "experiments.pipeline.placement",
    "pipeline.plans": "experiments.pipeline.plans",
    "pipeline.profile": "experiments.pipeline.profile",
    "pipeline.published": "experiments.pipeline.published",
    "pipeline.the_notes": "experiments.pipeline.lecture_notes",
    "pipeline.training": "experiments.pipeline.training",
    "sharded.across_nodes": "experiments.fsdp.across_nodes",
    "sharded.beside_dcp": "experiments.fsdp.compared_with_dcp",
    "sharded.beside_torch": "experiments.fsdp.compared_with_torch",
    "sharded.checkpointing": "sharded.activation_checkpointing",
    "sharded.checkpoints": "sharded.sharded_checkpoints",
    "sharded.driven": "experiments.fsdp.your_line",
    "sharded.functional": "sharded.zero3",
    "sharded.local_clipping": "sharded.gradient_clipping",
    "sharded.port": "sharded.port_bytes",
    "sharded.read_shards": "exercises.fsdp.recorded_reads",
    "sharded.recomputed": "experiments.fsdp.recomputed",
    "sharded.regret": "exercises.fsdp.unit_choices",
    "sharded.table": "experiments.fsdp.table",
    "sharded.to_clip": "exercises.fsdp.gradients_to_clip",
    "sharded.trainings": "experiments.fsdp.trainings",
    "sharded.watched_host": "exercises.fsdp.watched_host",
    "sharded.whole_numbers": "exercises.fsdp.whole_numbers",
    "sharded.wrapping": "experiments.fsdp.wrapping",
    "simt.driven": "experiments.gpu.your_line",
    "simt.gpu": "experiments.gpu.gpu",
    "simt.kernels.patients": "exercises.gpu.patients",
    "simt.machine_code": "experiments.gpu.machine_code",
    "simt.transactions": "simt.coalescing_and_bank_conflicts",
    "tensor_parallel.beside_torch": "tensor_parallel.compared_with_torch",
    "tensor_parallel.counted": "experiments.tensor_parallel.counted",
    "tensor_parallel.driven": "experiments.tensor_parallel.your_line",
    "tensor_parallel.megatron": "experiments.tensor_parallel.notes_sample",
    "tensor_parallel.regions": "tensor_parallel.f_and_g",
    "tensor_parallel.scaling": "experiments.tensor_parallel.scaling",
    "tensor_parallel.table": "experiments.tensor_parallel.table",
    "tensor_parallel.the_notes": "experiments.tensor_parallel.lecture_notes",
    "tensor_parallel.trainings": "experiments.tensor_parallel.trainings",
    "tensor_parallel.users": "experiments.tensor_parallel.users",
    "with_horovod.commits": "experiments.horovod.commits",
    "with_horovod.cost_of_negotiating": "experiments.horovod.cost_of_negotiating",
    "with_horovod.demos": "experiments.horovod.demos",
    "with_horovod.dialects": "experiments.horovod.dialects",
    "with_horovod.driven": "experiments.horovod.your_line",
    "with_horovod.legacy": "experiments.horovod.legacy",
    "with_horovod.lightning": "experiments.horovod.lightning",
    "with_horovod.observed": "experiments.horovod.observed",
    "with_horovod.out_of_order": "experiments.horovod.out_of_order",
    "with_horovod.recorded": "experiments.horovod.recorded",
    "with_horovod.replayed": "exercises.horovod.replayed",
    "with_horovod.scaling": "experiments.horovod.scaling",
    "with_horovod.specimens": "experiments.horovod.specimens",
    "with_horovod.steps": "experiments.horovod.steps",
    "with_horovod.survival": "exercises.horovod.survival",
    "with_horovod.task": "experiments.horovod.task",
    "with_horovod.tell": "experiments.horovod.tell",
    "with_horovod.tf_distribute": "experiments.horovod.tf_distribute",
    "without_waiting.advice": "experiments.without_waiting.advice",
    "without_waiting.asked": "exercises.without_waiting.recorded_gradient",
    "without_waiting.at_once": "exercises.without_waiting.concurrent_messages",
    "without_waiting.compression": "without_waiting.compression_with_error_feedback",
    "without_waiting.conflict": "experiments.without_waiting.conflict",
    "without_waiting.consensus": "experiments.without_waiting.consensus",
    "without_waiting.counted": "experiments.without_waiting.counted",
    "without_waiting.decentralised": "experiments.without_waiting.decentralised",
    "without_waiting.driven": "experiments.without_waiting.your_line",
    "without_waiting.fewer_bytes": "experiments.without_waiting.fewer_bytes",
    "without_waiting.flaws": "exercises.without_waiting.mixing_matrix_faults",
    "without_waiting.generalisation": "experiments.without_waiting.generalisation",
    "without_waiting.handed": "exercises.without_waiting.what_leaves_a_rank",
    "without_waiting.ingress": "experiments.without_waiting.ingress",
    "without_waiting.late": "experiments.without_waiting.straggler_trace",
    "without_waiting.meeting": "exercises.without_waiting.threads_on_one_vector",
    "without_waiting.notes": "experiments.without_waiting.lecture_notes",
    "without_waiting.ports": "experiments.without_waiting.ports",
    "without_waiting.published": "experiments.without_waiting.published",
    "without_waiting.schedules": "experiments.without_waiting.schedules",
    "without_waiting.schemes": "experiments.without_waiting.schemes",
    "without_waiting.served": "exercises.without_waiting.server_traces",
    "without_waiting.vector_clock": "exercises.without_waiting.vector_clock",
    "without_waiting.waiting": "experiments.without_waiting.waiting",
}  # below ``lockstep``: from → to


class Finder:
    """The last of ``sys.meta_path``: asked for what nobody else has found."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.removeprefix("lockstep.") not in MOVED:
            return None
        return ModuleSpec(name, Loader())  # type: ignore[arg-type]  # of importlib.abc, which takes long to import


class Loader:
    """Puts the module itself where its old name is looked up."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        return None

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(f"lockstep.{MOVED[name.removeprefix('lockstep.')]}")


def install() -> None:
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
