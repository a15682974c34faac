#!/bin/sh
# Makes the database and the role of the hubs, once, in a new PostgreSQL. The role can log in and owns one schema, and nothing more.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$TERMAITE_LEDGER_PASSWORD" --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
CREATE ROLE termaite LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'password';
CREATE DATABASE termaite;
REVOKE ALL ON DATABASE termaite FROM PUBLIC;
GRANT CONNECT ON DATABASE termaite TO termaite;
\connect termaite
REVOKE ALL ON SCHEMA public FROM PUBLIC;
CREATE SCHEMA termaite AUTHORIZATION termaite;
SQL
