import { once } from 'node:events'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import fc from '../cases.ts'
import { mask, secretVariables, valueMask } from '../../src/safety/redaction.ts'

// Made here from pieces, so that no scanner takes the table for real keys.
const letters = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z'
const long = (length: number) => letters.repeat(Math.ceil(length / letters.length)).slice(0, length)
const hex = (length: number) => '0123456789abcdef'.repeat(Math.ceil(length / 16)).slice(0, length)
const upper = (length: number) => long(length).toUpperCase()
const key = (prefix: string, length = 40) => prefix + long(length)
const pem = (kind: string, edge: string) => `-----${edge} ${kind}PRIVATE KEY-----`

const secrets: [text: string, shown: string][] = [
  [`key ${key('sk-ant-api03-', 95)} is bad`, 'key sk-ant-…[masked] is bad'],
  [key('sk-ant-oat01-'), 'sk-ant-…[masked]'],
  [key('sk-proj-', 120), 'sk-proj-…[masked]'],
  [key('sk-or-v1-', 64), 'sk-or-v1-…[masked]'],
  [`Incorrect API key provided: ${key('sk-', 48)}.`, 'Incorrect API key provided: sk-…[masked].'],
  ['sk-' + hex(32), 'sk-…[masked]'],
  [`?key=${key('AIza', 35)}&alt=json`, '?key=AIza…[masked]&alt=json'],
  [key('ya29.', 60), 'ya29.…[masked]'],
  [key('GOCSPX-', 28), 'GOCSPX-…[masked]'],
  [key('gsk_', 52), 'gsk_…[masked]'],
  [key('xai-', 80), 'xai-…[masked]'],
  [key('hf_', 34), 'hf_…[masked]'],
  [key('r8_', 37), 'r8_…[masked]'],
  [key('pplx-', 48), 'pplx-…[masked]'],
  [key('ghp_', 36), 'ghp_…[masked]'],
  [key('gho_', 36), 'gho_…[masked]'],
  [key('github_pat_', 82), 'github_pat_…[masked]'],
  [key('glpat-', 20), 'glpat-…[masked]'],
  [`xoxb-${'123456789012-'.repeat(2)}${long(24)}`, 'xoxb-…[masked]'],
  [key('xapp-1-A0', 40), 'xapp-…[masked]'],
  [key('npm_', 36), 'npm_…[masked]'],
  [key('pypi-AgE', 60), 'pypi-AgE…[masked]'],
  [key('sk_live_', 24), 'sk_live_…[masked]'],
  [`SG.${long(22)}.${long(43)}`, 'SG.…[masked]'],
  [`id ${'AKIA' + upper(16)} used`, 'id AKIA…[masked] used'],
  [`${'AKIA' + upper(16)},${long(40)}`, 'AKIA…[masked],…[masked]'],
  [`eyJ${long(20)}.eyJ${long(80)}.${long(43)}`, 'eyJ…[masked]'],
  [`Authorization: Bearer ${long(40)}`, 'Authorization: Bearer …[masked]'],
  [`Authorization: Bearer ${key('sk-ant-api03-')}`, 'Authorization: Bearer sk-ant-…[masked]'],
  [`-H "authorization: Basic ${long(24)}=="`, '-H "authorization: Basic …[masked]"'],
  [`"Authorization": "token ${hex(40)}"`, '"Authorization": "token …[masked]"'],
  [`curl -H 'x-api-key: ${long(32)}' https://a.b`, "curl -H 'x-api-key: …[masked]' https://a.b"],
  [`Set-Cookie: session=${long(32)}; Path=/`, 'Set-Cookie: session=…[masked]; Path=/'],
  [
    `${pem('RSA ', 'BEGIN')}\n${long(64)}\n${long(30)}\n${pem('RSA ', 'END')}\nrest`,
    `${pem('RSA ', 'BEGIN')}…[masked]${pem('RSA ', 'END')}\nrest`,
  ],
  [`${pem('', 'BEGIN')}\\n${long(64)}\\n${pem('', 'END')}`, `${pem('', 'BEGIN')}…[masked]${pem('', 'END')}`],
  [`${pem('OPENSSH ', 'BEGIN')}\n${long(70)}\n${long(70)}`, `${pem('OPENSSH ', 'BEGIN')}…[masked]`],
  ['password=hunter2', 'password=…[masked]'],
  ['DB_PASSWORD=correct-horse', 'DB_PASSWORD=…[masked]'],
  ['export DB_PASS="s3cret!"', 'export DB_PASS="…[masked]"'],
  [`password="a;b&c(d" x`, 'password="…[masked]" x'],
  ['password: "hunter22"', 'password: "…[masked]"'],
  ["'password' => 'topsecretpw'", "'password' => '…[masked]'"],
  ['secret:\n  password: hunter2', 'secret:\n  password: …[masked]'],
  ['the token password=hunter2', 'the token password=…[masked]'],
  ['token: password: hunter2', 'token: password: …[masked]'],
  [`API_KEY=${long(5000)} x`, 'API_KEY=…[masked] x'],
  ['Password: hunter2', 'Password: …[masked]'],
  [`TOKEN: ${hex(32)}`, 'TOKEN: …[masked]'],
  [`GITHUB_TOKEN=${hex(40)}`, 'GITHUB_TOKEN=…[masked]'],
  [`aws_secret_access_key = ${long(40)}`, 'aws_secret_access_key = …[masked]'],
  [`SECRET_KEY_BASE=${hex(64)}`, 'SECRET_KEY_BASE=…[masked]'],
  [`{"access_token":"${long(30)}","token_type":"bearer"}`, '{"access_token":"…[masked]","token_type":"bearer"}'],
  [`{"command":"export API_KEY=\\"${long(20)}\\""}`, '{"command":"export API_KEY=\\"…[masked]\\""}'],
  [`{"content":"A=1\\nAPI_KEY_2=${long(20)}\\nB=2"}`, '{"content":"A=1\\nAPI_KEY_2=…[masked]\\nB=2"}'],
  [`{"text":"here:\\n${key('ghp_', 36)}"}`, '{"text":"here:\\nghp_…[masked]"}'],
  [`//registry.example/:_authToken=${hex(36)}`, '//registry.example/:_authToken=…[masked]'],
  ['mysql --password hunter2 db', 'mysql --password …[masked] db'],
  [`deploy --api-key=${long(12)}`, 'deploy --api-key=…[masked]'],
  [`https://a.b/cb?state=1&access_token=${long(20)}&x=y`, 'https://a.b/cb?state=1&access_token=…[masked]&x=y'],
  ['postgres://app:p4ss@db.local/app', 'postgres://app:…[masked]@db.local/app'],
  ['redis://:p4ss@localhost:6379', 'redis://:…[masked]@localhost:6379'],
  [
    `git clone https://x-access-token:${key('ghs_', 36)}@github.com/a/b`,
    'git clone https://x-access-token:…[masked]@github.com/a/b',
  ],
  [`AccountKey=${long(60)}==;EndpointSuffix=x`, 'AccountKey=…[masked];EndpointSuffix=x'],
]

const ordinary: string[] = [
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'index 1a2b3c4..5d6e7f8 100644',
  'id: 123e4567-e89b-12d3-a456-426614174000',
  'sha256:' + hex(64),
  `"integrity": "sha512-${long(86)}=="`,
  `data:image/png;base64,iVBORw0KGgo${long(400)}+/${long(400)}=`,
  'const token = getToken(request)',
  'const token = await login(user, password)',
  'let secret = process.env.CLIENT_SECRET',
  'password: z.string().min(8)',
  'function login(user: string, password: string): Token {',
  'token: Uint8Array',
  'apiKey?: string',
  'apiKeyEnv: "OPENAI_API_KEY"',
  'max_tokens: 4096',
  'usage: 120 input tokens, 34 output tokens',
  'tokens=1234 cached=99',
  'token_count=5120',
  '"token_type": "Bearer"',
  'tokenizer: gpt2-medium-v3',
  'api_key = os.environ["API_KEY"]',
  'api_key=settings.api_key',
  'API_KEY=$OPENAI_API_KEY',
  'password=${DB_PASSWORD}',
  'password: <your password>',
  'export GITHUB_TOKEN=YOUR_TOKEN',
  'token = your_token_here1',
  '--token string   the token to use',
  '--token TOKEN',
  'Password: required',
  'The password must be at least 8 characters long.',
  'error: invalid token: unexpected end of input',
  'SyntaxError: Unexpected token: } in JSON at position 12',
  'the secret: nobody reads the manual',
  'PWD=/home/me/project',
  'SSH_AUTH_SOCK=/tmp/ssh-1/agent.2',
  'http://localhost:3000/@scope/package',
  'git@github.com:owner/repo.git',
  'https://user@host.example/path',
  'http://[::1]:8080/',
  '<div class="sk-folding-cube sk-cube-grid-container-wide">',
  'import { sk } from "sk-learn-like-long-module-name"',
  'npm_config_registry_with_a_long_name',
  'eyJust a word that starts so',
  'a bearer of long-established-traditions walked by',
  'Authorization: none',
  pem('RSA ', 'BEGIN') + ' marks the start of a key; look for it in the file.',
  'AKIAland is not a key',
  'private_key_path: ./certs/server.pem',
  'if (token === undefined) return',
  'expect(token).toBe(other)',
  'secrets: inherit',
  'permissions:\n  id-token: write',
  'const passwords = new Map<string, string>()',
  'rotate(roster, { strategy: "exhaustion" })',
  'ls -la src/base/token.ts',
  'xoxo, your friend',
  'the cookie: a small text',
  '2026-11-15T12:00:00Z took 35 ms',
  'class SecretKey extends Key {}',
  'type Token = { kind: string; text: string }',
]

test('secrets of every kind are masked, and the mask names the kind', () => {
  assert.ok(secrets.length + ordinary.length >= 60)
  assert.deepEqual(
    secrets.map(([text]) => mask(text)),
    secrets.map(([, shown]) => shown),
  )
})

test('ordinary text and code stay as they are', () => {
  assert.deepEqual(ordinary.map(mask), ordinary)
})

test('masked text stays the same when it is masked again', () => {
  const piece = fc.oneof(fc.constantFrom(...secrets.map(([text]) => text), ...ordinary), fc.string())
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const once = mask(pieces.join('\n'))
      assert.equal(mask(once), once)
    }),
    { numRuns: 200 },
  )
})

test('a quoted value is masked to its closing quote, and no further than its line', () => {
  const rows = {
    'PASSWORD="correct horse 8" # and more': 'PASSWORD="…[masked]" # and more',
    "db_password = 'first two', next = 'three four'": "db_password = '…[masked]', next = 'three four'",
    '{\\"secret\\": \\"first two\\", \\"a\\": 1}': '{\\"secret\\": \\"…[masked]\\", \\"a\\": 1}',
    'password: "always closed\nand "more"': 'password: "…[masked] closed\nand "more"',
  }
  assert.deepEqual(Object.fromEntries(Object.keys(rows).map((text) => [text, mask(text)])), rows)
})

test('values of secret variables are masked by name, in every spelling', () => {
  const named = secretVariables({
    OPENAI_API_KEY: 'plain words, 12 of them',
    MY_TOKEN: 'a"b/c+d=e f',
    DEPLOY_TOKEN: 'a"b/c+d=e f and more',
    HOME: '/home/someone',
    SHORT_TOKEN: 'abc',
    SSL_KEY: '/etc/ssl/private.pem',
    TERM_TOKEN: 'disabled',
    EMPTY_SECRET: undefined,
  })
  const redact = valueMask(named)
  assert.equal(
    redact('one: plain words, 12 of them; two: a"b/c+d=e f; url a%22b%2Fc%2Bd%3De%20f; json {"x":"a\\"b/c+d=e f"}'),
    'one: [masked $OPENAI_API_KEY]; two: [masked $MY_TOKEN]; url [masked $MY_TOKEN]; json {"x":"[masked $MY_TOKEN]"}',
  )
  assert.equal(redact('a"b/c+d=e f and more'), '[masked $DEPLOY_TOKEN]')
  const untouched = 'abc /home/someone /etc/ssl/private.pem disabled'
  assert.equal(redact(untouched), untouched)
})

test('a hostile megabyte is read in time that grows with it', async () => {
  // Doubling a text must not do more than double the work; a worker that is never done is the failure.
  const rings = [
    'sk-', 'eyJ', 'eyJ-', 'eyJaaaaaaaaa.', 'token', 'token ', 'token=', 'token:', 'token: ', '-token', '.token-', 'password\\"', 'a=', 'Bearer ',
    'bearer aaaa', 'http://', 'a:', 'http://a:', '-----BEGIN PRIVATE KEY-----', '-----BEGIN RSA ', 'AKIA', 'SG.aaaaaaaaaaaaaaaaaaaa',
    'cookie:', 'authorization: ', '\\\\\\"', 'A', '-', ' ', '\n', 'api_key_', 'secret_key_base ', 'xoxb-1',
  ] // prettier-ignore
  const source = `
    import { parentPort, workerData } from 'node:worker_threads'
    const { mask } = await import(workerData.module)
    for (const ring of workerData.rings) mask(ring.repeat(Math.ceil(1024 ** 2 / ring.length)))
    parentPort.postMessage('done')`
  const module = new URL('../../src/safety/redaction.ts', import.meta.url).href
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData: { module, rings },
  })
  try {
    const [message] = await once(worker, 'message', { signal: AbortSignal.timeout(60_000) })
    assert.equal(message, 'done')
  } finally {
    await worker.terminate()
  }
})
