# The pages of campaigns and challenges in a container; compose.yaml puts https in front of it.
FROM python:3.12-slim-trixie AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY CMakeLists.txt pyproject.toml README.md LICENSE ./
COPY cpp cpp
COPY tools tools
COPY src src
COPY models/meteor models/meteor
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[web]'

FROM python:3.12-slim-trixie
# pg_dump for backups: Debian 13 has that of PostgreSQL 17, the server in compose.yaml.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links=/wheels 'reelscore[web]'
RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin reelscore \
    && install --directory --owner=reelscore --group=reelscore --mode=0700 /data /backups \
    && install --directory /videos
COPY --chmod=755 deploy/start.sh deploy/worker.sh deploy/challenge.sh deploy/backup.sh /deploy/
# Uploads wait on the disk for their turn; /tmp of compose.yaml is memory.
ENV PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/tmp \
    TMPDIR=/data \
    REELSCORE_DATABASE=/data/campaigns.db \
    REELSCORE_SECRET_FILE=/data/secret \
    REELSCORE_VIDEOS=/videos \
    REELSCORE_BACKUPS=/backups \
    REELSCORE_SCORERS=1 \
    REELSCORE_PORT=8000
USER reelscore
WORKDIR /data
VOLUME ["/data", "/backups"]
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import http.client as h, os, sys; c = h.HTTPConnection('127.0.0.1', int(os.environ['REELSCORE_PORT']), timeout=5); c.request('GET', '/health'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["/deploy/start.sh"]
