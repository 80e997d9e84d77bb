# Lockstep without a GPU: a workshop's laptops, a hub's learners, a grader.
#
#     docker build --file docker/cpu.Dockerfile --tag lockstep:cpu .
#     docker run --rm --publish 8888:8888 --shm-size 1g --volume lockstep-work:/home/jovyan lockstep:cpu
#
# pip takes torch with CUDA on Linux, which is 5 GB more. For the CPU build hand pip that index, as pytorch.org names it:
#     docker build --build-arg PIP_ARGS="--extra-index-url …" …
#
# What changes most comes last: torch, then what Lockstep uses, then Lockstep. A new lesson costs the last layer alone.

ARG PYTHON_IMAGE=python:3.11.14-slim-bookworm
FROM ${PYTHON_IMAGE} AS base
ENV PATH=/opt/lockstep/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
ARG PIP_ARGS=""
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    python3 -m venv /opt/lockstep && pip install 'pip>=26'
COPY constraints.txt /tmp/lockstep/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    pip install --constraint /tmp/lockstep/constraints.txt $PIP_ARGS torch
COPY pyproject.toml docker/needs.py /tmp/lockstep/
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    python /tmp/lockstep/needs.py course dask hub > /tmp/lockstep/needs.txt \
    && pip install --constraint /tmp/lockstep/constraints.txt $PIP_ARGS --requirement /tmp/lockstep/needs.txt

FROM base AS wheel
COPY . /src
RUN --mount=type=secret,id=pip,target=/etc/pip.conf \
    pip install --constraint /src/constraints.txt $PIP_ARGS setuptools wheel \
    && pip wheel --no-deps --no-build-isolation --wheel-dir /wheels /src

FROM base
# /srv/exchange: through it a hub's learners and graders hand labs out and in (compose.yaml puts a volume there).
RUN useradd --create-home --uid 1000 --shell /bin/bash jovyan && install -d -o jovyan -m 1777 /srv/exchange
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-deps /tmp/wheels/*.whl && python -m compileall -q /opt/lockstep/lib/python3*/site-packages/lockstep
COPY docker/healthy.py /opt/lockstep/healthy.py
USER 1000
WORKDIR /home/jovyan
EXPOSE 8888
# Ranks share memory through /dev/shm, of which docker gives 64 MB: --shm-size 1g, or `shm_size` in compose.yaml.
HEALTHCHECK --interval=30s --timeout=10s --start-period=90s CMD ["python", "/opt/lockstep/healthy.py"]
CMD ["lockstep", "lab", "/home/jovyan/lockstep-course", "--ip=0.0.0.0", "--no-browser"]
