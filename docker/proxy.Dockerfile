# The proxy of docker/compose.yaml: what the browsers talk to. The hub tells it where each learner's server is.

FROM node:22-bookworm-slim
RUN npm install --global --no-audit --no-fund configurable-http-proxy@5.3.0 && npm cache clean --force
USER 1000
EXPOSE 8000
CMD ["configurable-http-proxy", "--ip=0.0.0.0", "--port=8000", "--api-ip=0.0.0.0", "--api-port=8001", \
     "--default-target=http://hub:8081", "--error-target=http://hub:8081/hub/error"]
