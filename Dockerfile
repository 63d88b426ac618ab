# quotamesh node. Build: docker build -t quotamesh .   Run: see docker-compose.yml
FROM node:22-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Optional binaries (LMDB) come inside npm packages; nothing needs an install script.
RUN npm ci --no-audit --no-fund --ignore-scripts
COPY . .
# The command is bundled: kafkajs stays, and LMDB, which is the embedded topic's and optional elsewhere; both as the lock file has them.
RUN node scripts/build.mjs \
  && npm pkg set "dependencies.lmdb=$(npm pkg get devDependencies.lmdb | tr -d '"')" \
  && npm pkg delete devDependencies.lmdb \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf dist/src

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /quotamesh
COPY --from=build --chown=root:root /build/package.json ./
COPY --from=build --chown=root:root /build/node_modules ./node_modules
COPY --from=build --chown=root:root /build/dist ./dist
# `topic: embedded` needs a folder that the user may write.
RUN mkdir /state && chown node:node /state
USER node
VOLUME /state
EXPOSE 7070
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7070/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/bin/quotamesh.js"]
# Other machines reach this address: the configuration needs auth:, or insecure: true (docs/operate/access.md).
CMD ["run", "--config", "/etc/quotamesh/node.yaml", "--http", "0.0.0.0:7070"]
