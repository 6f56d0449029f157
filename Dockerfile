# Small, without a shell script of its own: the sources run as they are, and a read-only file system is enough for them.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /opt/sightline
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
ENV SIGHTLINE_CONFIG=/etc/sightline/sightline.config.yaml
# Below the volume, not the volume: whose directory that is, is not ours to say.
ENV SIGHTLINE_DATA=/var/lib/sightline/data
WORKDIR /opt/sightline
COPY --from=dependencies /opt/sightline/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY src src
COPY plugins plugins
COPY deploy/docker/sightline.config.yaml /etc/sightline/sightline.config.yaml
RUN install -d -o 1000 -g 1000 -m 0700 /var/lib/sightline
USER 1000:1000
VOLUME /var/lib/sightline
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SIGHTLINE_PORT || 8080) + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "bin/sightline.js"]
CMD ["serve", "--no-demo"]
