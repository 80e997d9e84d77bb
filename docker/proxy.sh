#!/bin/sh
# The proxy, which knows its secret from a file and takes it from its own environment alone.
set -eu
CONFIGPROXY_AUTH_TOKEN=$(cat /run/secrets/proxy_token)
[ -n "$CONFIGPROXY_AUTH_TOKEN" ] || { echo "proxy: its secret is empty: docs/hub.md says how it is made" >&2; exit 1; }
export CONFIGPROXY_AUTH_TOKEN
exec configurable-http-proxy --ip=0.0.0.0 --port=8000 --api-ip=0.0.0.0 --api-port=8001 \
    --default-target=http://hub:8081 --error-target=http://hub:8081/hub/error
