#!/bin/sh
# Run once by the PostgreSQL image: the role that owns Sightline's tables must not be a superuser.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$STORAGE_PASSWORD" --username postgres <<'SQL'
CREATE ROLE sightline LOGIN PASSWORD :'password';
CREATE DATABASE sightline OWNER sightline;
SQL
