# takara-sync as an image: Python, the locked dependencies and the program. No shell is used, no build tool is in it.
#
#   docker build -t takara-sync:0.1.0 .
#   docker build -t takara-sync:0.1.0 --build-arg BASE=python:3.13-slim@sha256:<digest> .
#
# BASE is any image with Python 3.11 or newer and pip; pin it by its digest where builds have to repeat themselves.
# Wheels come from pip's package index (--build-arg PIP_INDEX_URL=...), or, where a folder wheels/ is in the context
# and PIP_NO_INDEX=1 is given, from there alone. Either way each has to have a hash of requirements.lock.
ARG BASE=python:3.13-slim

FROM ${BASE} AS program
ARG PIP_INDEX_URL
ARG PIP_NO_INDEX
WORKDIR /build
COPY . .
RUN python3 -m pip install --quiet --no-cache-dir --no-compile --no-warn-script-location --root-user-action=ignore \
      --require-hashes --only-binary=:all: --find-links=wheels --target=/opt/takara-sync -r requirements.lock \
 && rm -rf /opt/takara-sync/bin \
 && mv takara_sync k8s /opt/takara-sync/ \
 && ln -s ../k8s /opt/takara-sync/takara_sync/k8s \
 && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/takara-sync
# -I: neither the environment nor the working directory adds modules. -B: the root file system is read-only.
RUN mkdir bin \
 && printf '#!%s -BI\nimport sys\nsys.path.insert(0, "/opt/takara-sync")\nfrom takara_sync.cli.main import main\nsys.exit(main())\n' \
      "$(command -v python3)" > bin/takara-sync \
 && chmod 755 bin/takara-sync

# What is left of the base: without pip and its like, with the standard library compiled (bases leave that out).
FROM ${BASE} AS cleaned
RUN python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))' > /tmp/stdlib \
 && rm -rf "$(cat /tmp/stdlib)/ensurepip" "$(cat /tmp/stdlib)/site-packages" /usr/lib/python3/dist-packages \
      /usr/share/python-wheels /usr/bin/pip* /usr/local/bin/pip* \
 && (python3 -m compileall -q -x '/(test|tests|lib2to3|idlelib)/' --invalidation-mode unchecked-hash "$(cat /tmp/stdlib)" || true) \
 && rm -f /tmp/stdlib
COPY --from=program /opt/takara-sync /opt/takara-sync
COPY --from=program /build/bin/takara-sync /usr/local/bin/takara-sync

# One layer, in which what was removed is not hidden but absent: hence the whole file system.
FROM scratch
# hadolint ignore=DL3067
COPY --from=cleaned / /
ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8
LABEL org.opencontainers.image.title="takara-sync" \
      org.opencontainers.image.description="Keeps Kubernetes workloads at their declared size, in single passes" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0"
USER 65532:65532
WORKDIR /
ENTRYPOINT ["takara-sync"]
