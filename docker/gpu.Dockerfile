# Lockstep for a node with NVIDIA GPUs: CUDA's torch, NCCL, and Horovod built with NCCL.
# It was never built where Lockstep was written: there is no GPU, and no registry of images. hadolint reads it.
#
#     docker build --file docker/gpu.Dockerfile --tag lockstep:gpu .
#     docker run --rm --gpus all --publish 8888:8888 --shm-size 8g lockstep:gpu
#
# torch brings CUDA's libraries and NCCL itself. CUDA's compiler and NCCL's header are needed to build Horovod, and
# stay behind in the first stage. Take the image of CUDA whose version torch names: python -c "import torch; print(torch.version.cuda)"

ARG BUILD_IMAGE=nvidia/cuda:13.0.1-cudnn-devel-ubuntu24.04
ARG CUDA_IMAGE=nvidia/cuda:13.0.1-base-ubuntu24.04

FROM ${BUILD_IMAGE} AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
ENV PATH=/opt/lockstep/bin:$PATH PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
ARG PIP_ARGS=""
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv python3-dev g++ make \
    && rm -rf /var/lib/apt/lists/* && python3 -m venv /opt/lockstep && pip install 'pip>=26'
COPY constraints.txt /tmp/lockstep/
RUN pip install --constraint /tmp/lockstep/constraints.txt $PIP_ARGS torch
COPY pyproject.toml docker/needs.py /tmp/lockstep/
RUN python /tmp/lockstep/needs.py course dask hub gpu horovod > /tmp/lockstep/needs.txt \
    && pip install --constraint /tmp/lockstep/constraints.txt $PIP_ARGS --requirement /tmp/lockstep/needs.txt
COPY . /src
# hadolint ignore=DL3059
RUN pip install --constraint /src/constraints.txt --no-deps /src \
    && HOROVOD_GPU_OPERATIONS=NCCL LOCKSTEP_HOME=/tmp/lockstep lockstep horovod --yes \
    && horovodrun --check-build

FROM ${CUDA_IMAGE}
ENV PATH=/opt/lockstep/bin:$PATH
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends python3 openssh-client \
    && rm -rf /var/lib/apt/lists/* \
    && (userdel --remove ubuntu || true) && useradd --create-home --uid 1000 --shell /bin/bash jovyan \
    && install -d -o jovyan -m 1777 /srv/exchange
COPY --from=build /opt/lockstep /opt/lockstep
COPY docker/healthy.py /opt/lockstep/healthy.py
USER 1000
WORKDIR /home/jovyan
EXPOSE 8888
# NCCL's ranks and torch's loaders share memory through /dev/shm: --shm-size 8g, or `shm_size` in compose.yaml.
HEALTHCHECK --interval=30s --timeout=10s --start-period=90s CMD ["python", "/opt/lockstep/healthy.py"]
CMD ["lockstep", "lab", "/home/jovyan/lockstep-course", "--ip=0.0.0.0", "--no-browser"]
