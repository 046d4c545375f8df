# The server and its page:  docker build -t query-reduction . && docker run --rm -p 8080:8080 query-reduction
# One's own models:         docker run --rm -p 8080:8080 -v "$PWD/runs:/models:ro" query-reduction /models
#
# Models are served without PyTorch; other networks than the Query-Reduction Network need it: '.[serve,train]' below.

FROM python:3.11-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends cmake g++ ninja-build && rm -rf /var/lib/apt/lists/*
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/qrn
WORKDIR /source
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY kernels kernels
COPY src src
RUN PIP_CONSTRAINT=constraints.txt /opt/qrn/bin/pip install '.[serve]' \
 && find /opt/qrn -name __pycache__ -prune -exec rm -r {} +

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 qrn
COPY --from=build /opt/qrn /opt/qrn
USER qrn
WORKDIR /home/qrn
ENV PATH=/opt/qrn/bin:$PATH PYTHONDONTWRITEBYTECODE=1
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/api/health', timeout=4)"]
ENTRYPOINT ["qrn", "serve", "--host", "0.0.0.0"]
