import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../../src/base/time/clock.ts'
import { AddressError, postgresAddress } from '../../../src/hub/ledgers/postgres/address.ts'
import { openSession } from '../../../src/hub/ledgers/postgres/connections.ts'
import { ledgerFailure } from '../../../src/hub/ledgers/postgres/failures.ts'
import { migrate, newestVersion } from '../../../src/hub/ledgers/postgres/schema.ts'
import { postgresLedger } from '../../../src/hub/ledgers/postgres/postgres-ledger.ts'
import { put, moved, queued, row } from '../../contract/ledger-rows.ts'
import { freePort } from '../../free-port.ts'
import { sharedPostgres, skipWithoutPostgres, TestPostgres } from '../../postgres.ts'
import { tempFolder } from '../../store/temp.ts'
import { goldenOf } from '../../golden.ts'

const golden = goldenOf(import.meta.filename)

const skip = skipWithoutPostgres
const env = { PGUSER: 'me' }

test('an address is read as PostgreSQL reads it, and shown without a password', () => {
  const facts = (text: string) => {
    const { host, port, user, database, schema, shown, sslmode } = postgresAddress(text, { env, mayHavePassword: true })
    return [host, port, user, database, schema, shown, sslmode].join(' ')
  }
  assert.deepEqual(
    [
      'postgres://anna@db.example/hub',
      'postgresql://anna:p%40ss@db.example:6432/hub?schema=crew&sslmode=require',
      'postgres:///hub?host=/run/postgresql',
      'postgres://anna@/hub?host=/run/postgresql&port=5433',
      'postgres://localhost',
      'postgres://a%20b@[::1]/c%2Fd',
    ].map(facts),
    [
      'db.example 5432 anna hub termaite postgres://anna@db.example:5432/hub verify-full',
      'db.example 6432 anna hub crew postgres://anna@db.example:6432/hub?schema=crew require',
      '/run/postgresql 5432 me hub termaite postgres://me@/run/postgresql/hub disable',
      '/run/postgresql 5433 anna hub termaite postgres://anna@/run/postgresql/hub disable',
      'localhost 5432 me me termaite postgres://me@localhost:5432/me disable',
      '::1 5432 a b c/d termaite postgres://a b@[::1]:5432/c/d disable',
    ],
  )
})

test('an address that cannot be used is refused in words, and none of them has the password', (t) => {
  const refused = (text: string) => {
    try {
      postgresAddress(text, { env })
      return 'taken'
    } catch (error) {
      assert.ok(error instanceof AddressError)
      assert.doesNotMatch(error.message, /geheim/)
      return error.message.split('. ')[0]
    }
  }
  golden(
    t,
    [
      'postgres://anna:geheim@db/hub',
      'postgres://anna@db/hub?password=geheim',
      'postgres://anna@db/hub?sslmode=prefer',
      'postgres://anna@db/hub?sslmode=sometimes',
      'postgres://anna@db/hub?sslmode=verify-ca',
      'postgres://anna@db/hub?sslrootcert=/none.pem',
      'postgres://anna@db/hub?schema=x;drop',
      'postgres://anna@db/hub?jit=on',
      'postgres://anna@db:0/hub',
      'mysql://anna:geheim@db/hub',
      'postgres://[',
    ].map(refused),
  )
})

test('the password comes from a file that only its owner can read, else from the environment', (t) => {
  const file = join(tempFolder(t), 'password')
  writeFileSync(file, 'geheim\n')
  const password = (text: string, more: { env?: Record<string, string>; passwordFile?: string } = {}) => {
    try {
      return postgresAddress(text, { env: {}, ...more }).password()
    } catch (error) {
      return error instanceof AddressError && error.message.replaceAll(file, 'FILE')
    }
  }
  const address = 'postgres://anna@db/hub'
  chmodSync(file, 0o640)
  golden(t, password(address, { passwordFile: file }))
  chmodSync(file, 0o600)
  assert.deepEqual(
    [
      password(address, { passwordFile: file, env: { PGPASSWORD: 'x' } }),
      password(`${address}?passfile=${file}`),
      password(address, { env: { PGPASSWORD: 'x', TERMAITE_LEDGER_PASSWORD: 'y' } }),
      password(address, { env: { PGPASSWORD: 'x' } }),
      password(address),
    ],
    ['geheim', 'geheim', 'y', 'x', undefined],
  )
})

const openssl = spawnSync('openssl', ['version']).status === 0
const skipTls = skip || (openssl ? false : 'openssl is not installed, which makes the certificate of the server')

test('a server over TLS has to prove who it is, and a password is asked for in words', { skip: skipTls }, async (t) => {
  const folder = tempFolder(t)
  const [key, cert] = [join(folder, 'server.key'), join(folder, 'server.pem')]
  const subject = ['-subj', '/CN=db.example', '-addext', 'subjectAltName=IP:127.0.0.1']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject]
  assert.equal(spawnSync('openssl', made).status, 0)
  const port = await freePort()
  const server = await TestPostgres.start({ port })
  t.after(() => server.end())
  const { uid, gid } = statSync(server.data)
  for (const file of [key, cert]) {
    const copy = join(server.data, file === key ? 'server.key' : 'server.crt')
    writeFileSync(copy, spawnSync('cat', [file]).stdout, { mode: 0o600 })
    chownSync(copy, uid, gid)
  }
  writeFileSync(join(server.data, 'pg_hba.conf'), 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n')
  await server.sql(`CREATE ROLE anna LOGIN PASSWORD 'geheim'`)
  await server.sql('CREATE DATABASE hub OWNER anna')
  await server.sql('ALTER SYSTEM SET ssl = on')
  await server.sql('SELECT pg_reload_conf()')
  const tried = async (query: string, password?: string, host = '127.0.0.1') => {
    const given: Record<string, string> = password === undefined ? {} : { TERMAITE_LEDGER_PASSWORD: password }
    const address = postgresAddress(`postgres://anna@${host}:${port}/hub?${query}`, { env: given })
    try {
      const session = await openSession(address, realClock)
      const [row] = await session.rows<{ ssl: boolean }>('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
      await session.end()
      return row!.ssl
    } catch (error) {
      const { message } = ledgerFailure(error, address.shown)
      assert.doesNotMatch(message, /geheim|falsch/)
      return message.split(/[.:] /)[0]!.replaceAll(String(port), 'PORT')
    }
  }
  const unverified = 'The certificate of the database at postgres'
  golden(t, [
    await tried(`sslmode=verify-full&sslrootcert=${cert}`, 'geheim'),
    await tried(`sslmode=verify-ca&sslrootcert=${cert}`, 'geheim', 'localhost'),
    await tried('sslmode=require', 'geheim'),
    (await tried('sslmode=verify-full', 'geheim')).toString().startsWith(unverified),
    (await tried(`sslmode=verify-full&sslrootcert=${cert}`, 'geheim', 'localhost')).toString().startsWith(unverified),
    await tried(`sslmode=require`, 'falsch'),
    await tried(`sslmode=require`),
    await tried('sslmode=disable', 'geheim'),
  ])
})

test(
  'a hub works with the grants that are documented and no more, after another user has made the tables',
  { skip },
  async (t) => {
    const server = await sharedPostgres()
    const owner = postgresAddress(await server.database(), { env: {} })
    const { database } = owner
    await server.sql('CREATE ROLE hub LOGIN')
    const hub = postgresAddress(server.address(database, 'hub'), { env: {} })
    await server.sql(`REVOKE CREATE ON SCHEMA public FROM PUBLIC`, database)
    await golden.rejects(t, postgresLedger(hub), { [hub.shown]: '<shown>' })
    assert.deepEqual((await migrate(owner, realClock)).to, newestVersion)
    await server.sql(
      `GRANT USAGE ON SCHEMA termaite TO hub;
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA termaite TO hub`,
      database,
    )
    const ledger = await postgresLedger(hub)
    await put(ledger, { tasks: [row(queued('t1'))], changes: [moved('t1')] })
    await ledger.keys.put({ id: 'k', name: 'anna', role: 'member', hash: 'h', made: 1, by: 'me' })
    await ledger.blobs.put('text', 'text/plain')
    await ledger.sweep()
    await ledger.book.announce({ id: 'h', machines: [] })
    assert.equal((await ledger.book.secret()).length, 32)
    await ledger.audit().add([{ at: 1, by: 'a', key: 'k', role: 'member', act: 'x', outcome: 'done', status: 200 }])
    await ledger.close()
  },
)

test('a schema of a newer termaite is refused with what to update', { skip }, async (t) => {
  const server = await sharedPostgres()
  const address = postgresAddress(await server.database(), { env: {} })
  await migrate(address, realClock)
  await server.sql('UPDATE termaite.ledger SET version = 99', address.database)
  await golden.rejects(t, postgresLedger(address), { [address.shown]: '<shown>' })
})

test('a database without UTF-8 is refused', { skip }, async () => {
  const server = await sharedPostgres()
  await server.sql(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`)
  await assert.rejects(postgresLedger(postgresAddress(server.address('latin'), { env: {} })), /needs UTF8/)
})
