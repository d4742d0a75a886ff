# The sandbox as a container. Beyond loopback its control plane needs a token:
#
#   docker build --tag petstore-sandbox .
#   docker run --rm --publish 4010:4010 --env PETSTORE_SANDBOX_CONTROL_TOKEN=change-me petstore-sandbox
#
# The state is in /data; --volume keeps it.

# Any image with Node 20.19 or newer, npm and a user "node".
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund && npm pack --silent --pack-destination /tmp

FROM ${NODE_IMAGE}
COPY --from=build /tmp/petstore-sandbox-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/petstore-sandbox-*.tgz \
 && rm /tmp/petstore-sandbox-*.tgz \
 && install --directory --owner=node --group=node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 4010
ENV PETSTORE_SANDBOX_HOST=0.0.0.0 PETSTORE_SANDBOX_LOG=json
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["petstore-sandbox", "control", "wait", "--timeout", "2s"]
ENTRYPOINT ["petstore-sandbox"]
CMD ["serve"]
