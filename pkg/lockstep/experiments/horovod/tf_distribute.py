"""The training of script.py with TensorFlow's ``tf.distribute``, as text: TensorFlow is not installed, and this is
never run. What ``build_model``, ``rows``, ``rate``, ``batch`` and ``epochs`` are, is left open.

Sources, on tensorflow.org: api_docs/python/tf/distribute/MultiWorkerMirroredStrategy (its arguments, TF_CONFIG, "the
same program on each worker"), .../experimental/CommunicationOptions and CommunicationImplementation (AUTO, RING, NCCL;
the notes' CollectiveCommunication is its deprecated alias), tutorials/distribute/multi_worker_with_keras (the scope,
the batch of all workers), api_docs/python/tf/keras/callbacks/BackupAndRestore.
"""

LISTING = """
import json
import os

import tensorflow as tf

# Each worker runs this program, with a TF_CONFIG of its own. Of worker 0 it is
#   {"cluster": {"worker": ["host0:12345", "host1:23456"]}, "task": {"type": "worker", "index": 0}}
workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])

options = tf.distribute.experimental.CommunicationOptions(
    implementation=tf.distribute.experimental.CommunicationImplementation.RING  # or NCCL, or AUTO
)
strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)

with strategy.scope():  # the variables made here are mirrored: one copy on each worker, kept in sync
    model = build_model()
    optimizer = tf.keras.optimizers.SGD(learning_rate=workers * rate, momentum=0.9)
    model.compile(loss="mse", optimizer=optimizer)

dataset = rows.shuffle(len(rows)).batch(workers * batch)  # the batch of all workers: each gets its share
resume = tf.keras.callbacks.BackupAndRestore("backup")  # a copy after each epoch, to go on from
model.fit(dataset, epochs=epochs, callbacks=[resume])
""".lstrip()
