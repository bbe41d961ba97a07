# The browser app of Ludens, on port 8765, behind a token. docs/container.md says how to build, run and update it.
#
#   docker build --tag ludens .
#   docker build --tag ludens:gpu --build-arg EXTRAS=fast,data,sign,train .

FROM python:3.12-slim-bookworm AS build
ARG EXTRAS=fast,data,sign
WORKDIR /source
COPY LICENSE NOTICE README.md constraints.txt pyproject.toml ./
COPY src src
RUN python -m venv /opt/ludens \
    && /opt/ludens/bin/pip install --no-cache-dir --constraint constraints.txt ".[${EXTRAS}]"

FROM python:3.12-slim-bookworm
RUN useradd --create-home --uid 10001 ludens \
    && install --directory --owner ludens --group ludens /runs
COPY --from=build /opt/ludens /opt/ludens
ENV PATH=/opt/ludens/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
WORKDIR /home/ludens
VOLUME /runs
EXPOSE 8765
# The first process of a container ignores SIGTERM; Ctrl-C ends the server in order.
STOPSIGNAL SIGINT
HEALTHCHECK --start-period=20s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8765), 5).close()"]
ENTRYPOINT ["ludens"]
CMD ["web", "/runs", "--host", "0.0.0.0", "--name", "localhost", "--no-open"]
