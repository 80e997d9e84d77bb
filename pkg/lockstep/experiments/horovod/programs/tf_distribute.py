import json
import os

import numpy as np
import tensorflow as tf

epochs, batch, rate = 20, 2, 1 / 512
rows = np.load("rows.npz")
x, y = rows["x"], rows["y"]
tf.keras.utils.set_random_seed(1)  # so all workers shuffle in the same order

# Each worker runs this program, with a TF_CONFIG of its own. Worker 0's is
#   {"cluster": {"worker": ["host0:1234", "host1:1234"]},
#    "task": {"type": "worker", "index": 0}}
told = json.loads(os.environ["TF_CONFIG"])
workers, worker = len(told["cluster"]["worker"]), told["task"]["index"]

ring = tf.distribute.experimental.CommunicationImplementation.RING  # or NCCL, or AUTO
options = tf.distribute.experimental.CommunicationOptions(implementation=ring)
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)

with strategy.scope():  # variables made here are mirrored: one copy on each worker
    dense = tf.keras.layers.Dense
    model = tf.keras.Sequential([dense(4, "tanh"), dense(3, "tanh"), dense(1)])
    optimizer = tf.keras.optimizers.SGD(workers * rate, momentum=0.9)
    model.compile(loss="mse", optimizer=optimizer)

dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x))
resume = tf.keras.callbacks.BackupAndRestore("backup")  # a copy after each epoch
model.fit(dataset.batch(workers * batch), epochs=epochs, callbacks=[resume], verbose=0)

steps, loss = optimizer.iterations.numpy(), tf.reduce_mean((model(x) - y) ** 2)
print(f"worker {worker} of {workers}: {steps} steps, loss {loss:.4f}")
