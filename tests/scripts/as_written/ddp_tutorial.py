"""In the style of PyTorch's DDP tutorial series: a Trainer, a DistributedSampler, snapshots that runs resume from."""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed import destroy_process_group, init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class MyTrainDataset(Dataset):
    def __init__(self, size):
        generator = torch.Generator().manual_seed(0)
        self.data = [(x, x.sum().view(1)) for x in torch.rand(size, 20, generator=generator)]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.data[index]


class Note:
    """What is saved beside the weights: an object of a class of this very script."""

    def __init__(self, epoch, rank):
        self.epoch, self.rank = epoch, rank


def ddp_setup():
    init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")


class Trainer:
    def __init__(self, model, train_data, optimizer, save_every, snapshot_path):
        self.local_rank, self.global_rank = int(os.environ["LOCAL_RANK"]), int(os.environ["RANK"])
        self.model, self.train_data, self.optimizer = model, train_data, optimizer
        self.save_every, self.snapshot_path, self.epochs_run = save_every, snapshot_path, 0
        if os.path.exists(snapshot_path):
            print("Loading snapshot")
            self._load_snapshot(snapshot_path)
        self.model = DDP(self.model)

    def _load_snapshot(self, path):
        snapshot = torch.load(path, weights_only=False)
        assert type(snapshot["NOTE"]) is Note
        self.model.load_state_dict(snapshot["MODEL_STATE"])
        self.epochs_run = snapshot["NOTE"].epoch + 1

    def _run_epoch(self, epoch):
        b_sz = len(next(iter(self.train_data))[0])
        print(f"[rank{self.global_rank}] Epoch {epoch} | Batchsize: {b_sz} | Steps: {len(self.train_data)}")
        self.train_data.sampler.set_epoch(epoch)
        for source, targets in self.train_data:
            self.optimizer.zero_grad()
            loss = F.mse_loss(self.model(source), targets)
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def train(self, max_epochs):
        for epoch in range(self.epochs_run, max_epochs):
            self._run_epoch(epoch)
            if self.global_rank == 0 and epoch % self.save_every == 0:
                snapshot = {"MODEL_STATE": self.model.module.state_dict(), "NOTE": Note(epoch, self.global_rank)}
                torch.save(snapshot, self.snapshot_path)
                print(f"Epoch {epoch} | Training snapshot saved at {self.snapshot_path}")


def main(save_every, total_epochs, batch_size, snapshot_path, workers):
    ddp_setup()
    dataset, model = MyTrainDataset(256), torch.nn.Linear(20, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    loader = DataLoader(
        dataset, batch_size=batch_size, shuffle=False, sampler=DistributedSampler(dataset), num_workers=workers
    )
    trainer = Trainer(model, loader, optimizer, save_every, snapshot_path)
    trainer.train(total_epochs)
    weights = [torch.empty(1, 20) for _ in range(dist.get_world_size())]
    dist.all_gather(weights, model.weight.detach())
    assert all(torch.equal(weights[0], w) for w in weights)
    notes = [None] * dist.get_world_size()
    dist.all_gather_object(notes, Note(total_epochs, dist.get_rank()))
    assert all(type(note) is Note for note in notes)
    assert [note.rank for note in notes] == list(range(dist.get_world_size()))
    destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="simple distributed training job")
    parser.add_argument("total_epochs", type=int, help="Total epochs to train the model")
    parser.add_argument("save_every", type=int, help="How often to save a snapshot")
    parser.add_argument("--batch_size", default=32, type=int, help="Input batch size on each device (default: 32)")
    parser.add_argument("--workers", default=0, type=int)
    args = parser.parse_args()
    main(args.save_every, args.total_epochs, args.batch_size, "snapshot.pt", args.workers)
