import type { Sign } from '../../src/profiles/shared/failure-signs.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainFailure } from '../../src/agents/plain-failure.ts'
import { processFailure } from '../../src/agents/process-failure.ts'
import { mayMeanLimit } from '../../src/core/talk/limit-message.ts'

const now = Date.parse('2026-11-15T12:00:00Z')
const root = join(import.meta.dirname, '..', '..')

/** The kind of failure of an own command that exits with 1. */
const kindOf = (err: string) => plainFailure({ err, out: '', code: 1, now })?.kind

/** Messages of providers, SDKs and wrappers, as they end the output of a command. */
const limits = [
  'HTTP 429',
  'Error: 429',
  '429 Too Many Requests',
  'Rate-limit hit',
  'RESOURCE_EXHAUSTED',
  'ask: rate limit exceeded, try again in 5 minutes',
  'ERROR ask: the daily quota is used up',
  'your quota is spent',
  'Out of credits',
  'You are being rate limited.',
  'AxiosError: Request failed with status code 429',
  'requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.example.com/v1/chat',
  'POST "https://api.example.com/v1/chat/completions": 429 Too Many Requests {"message":"slow down"}',
  'stream error: exceeded retry limit, last status: 429 Too Many Requests',
  'openai.RateLimitError: Error code: 429',
  'error, status code: 429, status: 429 Too Many Requests, message: Rate limit reached for gpt-5',
  'API rate limit exceeded for user ID 12345.',
  'Error: Your organization has exceeded its monthly limit of requests, resets on Dec 1 at 00:00 UTC',
  '{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}',
]

/** What broken programs print: none of them is out of quota, whatever words and numbers are in it. */
const crashes = [
  // The place of an error.
  'app.js:429',
  'at app.js:429:13',
  '/srv/quota/index.js:12\n    throw new Error("boom")\n    ^\n\nError: boom\n    at Object.<anonymous> (/srv/quota/index.js:429:9)\n\nNode.js v24.3.0',
  'Traceback (most recent call last):\n  File "/srv/quota.py", line 429, in rate_limit\nZeroDivisionError: division by zero',
  'bash: line 429: fo: command not found',
  "ask.sh: line 429: syntax error near unexpected token `fi'",
  'panic: runtime error: index out of range [429] with length 3',
  "thread 'main' panicked at src/rate_limit.rs:429:13:",
  'Segmentation fault (core dumped)',
  // Compilers.
  "src/quota.ts(3,17): error TS2304: Cannot find name 'rateLimit'.",
  "src/rate-limit.ts:429:5 - error TS2339: Property 'quota' does not exist on type 'Limit'.",
  "quota.c:429:12: error: 'usage_limit' undeclared (first use in this function)",
  'error[E0433]: failed to resolve: use of undeclared type `RateLimit`',
  './limits.go:429:2: undefined: RateLimit',
  'Quota.java:12: error: cannot find symbol RateLimitExceeded',
  "SyntaxError: The requested module './limits.js' does not provide an export named 'RateLimitError'",
  "ImportError: cannot import name 'RateLimitError' from 'limits'",
  "ModuleNotFoundError: No module named 'ratelimit'",
  "Error: Cannot find module './rate-limit exceeded.js'",
  'ReferenceError: quota is not defined',
  "TypeError: Cannot read properties of undefined (reading 'rateLimit')",
  "KeyError: 'quota'",
  // Test runners.
  'FAIL src/quota.test.ts',
  'FAIL  src/limits.test.ts > limiter > answers 429 when the rate limit is exceeded',
  'FAILED tests/test_quota.py::test_quota_exceeded - AssertionError: assert 200 == 429',
  '--- FAIL: TestQuotaExceeded (0.00s)',
  'not ok 4 - rate limit exceeded',
  '✖ quota is exceeded (3.2ms)',
  '● limiter › rate limit exceeded',
  'test limiter::rate_limit_exceeded ... FAILED',
  'AssertionError: expected 200 to equal 429',
  'AssertionError [ERR_ASSERTION]: Expected "rate limit exceeded"',
  'Error: expected status code 429, received 200',
  'Tests: 1 failed, 429 passed, 430 total',
  'error: 429 tests failed',
  // Linters.
  "src/quota.js: line 429, col 5, Error - 'quota' is assigned a value but never used. (no-unused-vars)",
  'src/limits.py:429:80: E501 line too long (102 > 79 characters)',
  '✖ 429 problems (429 errors, 0 warnings)',
  'Found 429 errors in quota.py (checked 12 source files)',
  // Addresses and ports.
  '127.0.0.1:429',
  'Error: connect ECONNREFUSED 127.0.0.1:429',
  'Error: listen EADDRINUSE: address already in use :::429',
  'dial tcp [::1]:429: connect: connection refused',
  "fatal: unable to access 'https://git.example.com/team/quota.git/': Could not resolve host: git.example.com",
  'curl: (7) Failed to connect to localhost port 429 after 0 ms',
  'Error: could not load https://example.com/docs/rate-limit/429',
  // Files and targets.
  'make: *** [rate-limit] Error 2',
  "make: *** No rule to make target `quota'.  Stop.",
  "ENOENT: no such file or directory, open 'data/quota.json'",
  'npm error Missing script: "quota"',
  'usage: ask [--rate-limit N] [--quota FILE]',
  "error: unexpected argument '--rate-limit' found",
  // Logs of a server.
  'Error: hook failed\n    at run (/srv/app.js:9:1)\n    GET /v1/quota 429 3 ms',
  '127.0.0.1 - - [15/Nov/2026 12:00:00] "GET /quota HTTP/1.1" 429 -',
  'INFO:     127.0.0.1:53012 - "GET /quota HTTP/1.1" 429 Too Many Requests',
  '<-- POST /v1/rate-limit 429 12ms',
  // Limits that waiting does not lift.
  'write: Disk quota exceeded',
  'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
  'Error: Memory limit exceeded',
  'Time limit exceeded',
  'RecursionError: maximum recursion depth exceeded',
  'Error: file size limit reached',
  // Only the word.
  'quota',
  'The quota check failed.',
  'Error: the rate limit must be a positive number',
]

test('a message that states a spent limit counts, in the words of any provider, SDK or wrapper', () => {
  assert.deepEqual(
    limits.filter((line) => kindOf(line) !== 'quota'),
    [],
  )
})

test('a crash is no limit, whatever files, tests, ports, numbers and logs it names', () => {
  assert.deepEqual(
    crashes.filter((err) => kindOf(err) === 'quota'),
    [],
  )
})

test('every recorded message about a quota counts for an own command as well', async () => {
  const modules = globSync('src/profiles/**/*.ts', { cwd: root }).map((file) => import(join(root, file)))
  const exported = (await Promise.all(modules)).flatMap((module) => Object.values(module as Record<string, unknown>))
  const isSign = (one: unknown): one is Sign =>
    typeof one === 'object' && one !== null && 'says' in one && 'said' in one
  const signs = exported.flatMap((value) => (Array.isArray(value) ? value.filter(isSign) : []))
  const said = signs.filter(({ kind }) => kind === 'quota').map((sign) => sign.said)
  const runs = globSync('test/fixtures/corpus/*.json', { cwd: root }).flatMap(
    (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as { err: string; code: number; expect?: string }[],
  )
  // The report of a run in JSON is read by its dialect; an own command has none.
  const ended = runs.filter(({ err, expect }) => expect === 'quota' && err !== '').map(({ err }) => err)
  assert.ok(said.length >= 20 && ended.length >= 40, `${said.length} signs, ${ended.length} runs`)
  assert.deepEqual(
    [...said, ...ended].filter((message) => kindOf(message) !== 'quota'),
    [],
  )
})

/** The message of an own command's crash, as the desk gets it. */
function crashMessage(err: string, how: { code?: number; signal?: NodeJS.Signals } = { code: 1 }): string {
  return processFailure('own', { err, out: '', now, ...how }, undefined)!.message
}

test('a person is asked only about words that leave doubt', () => {
  const doubtful = [
    'allowance of today is gone, try again in 2 hours',
    'Daily allotment used up, upgrade your plan to go on',
    'request refused (402)',
    'the service is closed, back at 2026-11-16T00:00:00Z',
  ]
  const asked = (message: string) => mayMeanLimit(message, now)
  assert.deepEqual(
    doubtful.filter((words) => !asked(crashMessage(words))),
    [],
  )
  assert.deepEqual(
    [...crashes, 'model exploded', 'connection closed'].filter((err) => asked(crashMessage(err))),
    [],
  )
})

test('a person is not asked about a program that was killed or broke down, nor about one that said nothing', () => {
  const words = 'allowance of today is gone'
  const ends = [{ signal: 'SIGSEGV' as const }, { code: 139 }, { code: 134 }]
  assert.deepEqual(
    [...ends.map((how) => crashMessage(words, how)), crashMessage('')].map((message) => mayMeanLimit(message, now)),
    [false, false, false, false],
  )
})
