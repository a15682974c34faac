import type { Destination } from '../../src/safety/border.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { destinations, openBorder } from '../../src/safety/border.ts'

// Made here from pieces, so that no scanner takes them for real keys.
const aws = `AKIA${'Q3EGRSTU5VWXYZ7A'}`
const github = `ghp_${'Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G1h2J3k4'}`
const pem = (edge: string) => `-----${edge} PRIVATE KEY-----`
const secrets = {
  aws: `id ${aws}`,
  github: `token ${github}`,
  block: `${pem('BEGIN')}\n${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0za'.repeat(2)}\n${pem('END')}`,
  password: 'password=hunter2hunter2',
  variable: 'deploy with number-123-of-mine',
}
const masked = {
  aws: 'id AKIA…[masked]',
  github: 'token ghp_…[masked]',
  block: `${pem('BEGIN')}…[masked]${pem('END')}`,
  password: 'password=…[masked]',
  variable: 'deploy with [masked $DEPLOY_TOKEN]',
}

test('the work sees secrets, every other destination sees masks', () => {
  const border = openBorder({ env: { DEPLOY_TOKEN: 'number-123-of-mine' } })
  for (const destination of Object.keys(destinations) as Destination[]) {
    const seen = Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, border.to(destination, text)]))
    assert.deepEqual(seen, destination === 'work' ? secrets : masked, destination)
  }
})

test('termaite’s own keys are masked at every destination: those of its variables, those it stored, and those it learns', () => {
  const login = JSON.stringify({
    token_type: 'bearer',
    tokens: { access_token: 'opaque one', refresh_token: 'opaque two' },
  })
  let looked = 0
  const border = openBorder({
    env: { GROQ_API_KEY: 'number 123' },
    ownVariables: ['GROQ_API_KEY', 'OPENAI_API_KEY'],
    kept() {
      looked++
      return { groq: 'put away', 'mcp web': login, short: 'abc' }
    },
  })
  assert.equal(looked, 0, 'nobody looks before there is something to mask')
  const text = 'put away, opaque one, opaque two, bearer, abc, number 123, found later'
  const own =
    '[masked key of groq], [masked key of mcp web], [masked key of mcp web], bearer, abc, [masked $GROQ_API_KEY]'
  for (const destination of Object.keys(destinations) as Destination[])
    assert.equal(border.to(destination, text), `${own}, found later`, destination)
  border.learn('openai', 'found later')
  for (const destination of Object.keys(destinations) as Destination[])
    assert.equal(border.to(destination, text), `${own}, [masked key of openai]`, destination)
  assert.equal(looked, 1)
  assert.equal(border.markIn('x = "[masked key of openai]"'), '[masked key of openai]')
  assert.equal(border.markIn('x = "…[masked]" and [masked key of nobody]'), undefined)
})
