# The collector. Pinned by tag and not by digest: docs/decisions/0003-locks.md says why, and who should change it.
FROM python:3.13-slim-bookworm AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
COPY requirements.lock requirements-server.lock ./
RUN python -m venv /tools && /tools/bin/pip install --require-hashes --requirement requirements.lock \
    && python -m venv /hubbub && /hubbub/bin/pip install --require-hashes --requirement requirements-server.lock
COPY . .
RUN /tools/bin/hatchling build --target wheel --directory /wheel && /hubbub/bin/pip install --no-deps /wheel/*.whl

FROM python:3.13-slim-bookworm
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin hubbub \
    && install --directory --owner=hubbub --group=hubbub --mode=0700 /data
COPY --from=build /hubbub /hubbub
ENV PATH=/hubbub/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HUBBUB_SERVER_HOST=0.0.0.0 \
    SQLITE_TMPDIR=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8750
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8750/healthz', timeout=2)"]
ENTRYPOINT ["hubbub-server"]
CMD ["serve", "--config", "/data/hubbub.toml"]
