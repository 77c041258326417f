# python:3.11-slim-bookworm, by digest. 3.11 as in Debian bookworm, the other way to a base, and as in EvalPlus's image; from 3.12 on,
# the sum of floats is compensated and differs in the last digits.
FROM python@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b
RUN pip install --no-cache-dir --only-binary=:all: numpy==1.26.4
