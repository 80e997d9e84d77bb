# The proxy of docker/compose.yaml: what the browsers talk to. The hub tells it where each learner's server is, and both
# know a secret.

ARG NODE_IMAGE=node:22.21.1-bookworm-slim
FROM ${NODE_IMAGE}
RUN npm install --global --no-audit --no-fund configurable-http-proxy@5.3.0 && npm cache clean --force
USER 1000
EXPOSE 8000
COPY proxy.sh /usr/local/bin/
CMD ["sh", "/usr/local/bin/proxy.sh"]
