# quotamesh node. Build: docker build -t quotamesh .   Run: see docker-compose.yml
FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Optional binaries (LMDB) come inside npm packages; nothing needs an install script.
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY . .
# What is published is what runs: the image has the files of the package, and no list of its own. Beside it the packages
# that the command does not have in itself: kafkajs, and LMDB, the embedded topic's; both as the lock file has them.
RUN node scripts/build.mjs \
  && mkdir /package \
  && npm pack --ignore-scripts --pack-destination / \
  && tar -xzf /quotamesh-*.tgz --strip-components=1 -C /package \
  && npm pkg set "dependencies.lmdb=$(npm pkg get devDependencies.lmdb | tr -d '"')" \
  && npm pkg delete devDependencies.lmdb \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /quotamesh
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /package ./
# `topic: embedded` needs a folder that the user may write.
RUN mkdir /state && chown node:node /state
# node:node, by number: Kubernetes takes no name as a user who is certainly not root.
USER 1000:1000
VOLUME /state
EXPOSE 7070
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7070/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/bin/quotamesh.js"]
# Other machines reach this address: the configuration needs auth:, or insecure: true (docs/operate/access.md).
CMD ["run", "--config", "/etc/quotamesh/node.yaml", "--http", "0.0.0.0:7070"]
