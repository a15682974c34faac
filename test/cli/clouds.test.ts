import type { Answer } from '../real/model/script.ts'
import type { Asked } from '../real/model/script.ts'
import { after, test } from 'node:test'
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aws, cloudWays, speeches } from '../models/cloud-rig.ts'
import { cloudServer } from '../models/cloud-server.ts'
import { noSandbox } from '../safety/no-sandbox.ts'
import { Machine } from './program.ts'

const clouds = await cloudServer()
after(() => clouds.close())

type Said = Extract<Answer, { text?: string }>

/** Every file below a folder, as one text. */
function everythingIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  return names.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
}

for (const [name, way] of Object.entries(cloudWays)) {
  test(`${name}: the program takes a turn with a tool, and keeps no secret`, async (t) => {
    const machine = new Machine(t)
    writeFileSync(join(machine.project, 'a.txt'), 'the content of a\n')
    const steps: ((asked: Asked) => Said)[] = [
      () => ({ call: { tool: 'file_reader', input: { file_path: join(machine.project, 'a.txt') } } }),
      ({ text }) => ({ text: text.includes('the content of a') ? 'It was read.' : 'It was not read.' }),
    ]
    const room = clouds.room(way, (asked) => speeches[way.wire].say(steps[asked.count - 1]!(asked), asked))
    const env = way.env(room.url)
    const key = way.key
      ? { [way.model.startsWith('azure') ? 'AZURE_OPENAI_API_KEY' : 'AWS_BEARER_TOKEN_BEDROCK']: way.key }
      : {}
    const agent = { name: 'cloud', kind: 'native', model: way.model, baseURL: room.url }
    machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 100_000 }] })
    const ran = await machine.call(['-p', 'read a.txt', '--leash', 'edit'], { env: { ...env, ...key } })
    assert.deepEqual(
      { code: ran.code, out: ran.out, faults: room.faults },
      { code: 0, out: 'It was read.\n', faults: [] },
      ran.err,
    )
    assert.deepEqual(room.targets, [way.path, way.path])
    const left = everythingIn(machine.home) + ran.err
    for (const secret of [
      aws.secret,
      aws.session,
      way.key,
      'made-up-google-token',
      'made-up-entra-token',
      'entra-secret',
    ])
      if (secret) assert.ok(!left.includes(secret), `${secret} was kept`)
    assert.ok(!/AWS4-HMAC|PRIVATE KEY/.test(left))
  })
}

const files = `[default]\naws_access_key_id = ${aws.id}\naws_secret_access_key = ${aws.secret}\nregion = eu-central-1\n`

test('doctor says by which credential each cloud is used, or what is missing', async (t) => {
  const machine = new Machine(t)
  const home = join(machine.folder, 'home')
  mkdirSync(join(home, '.aws'))
  writeFileSync(join(home, '.aws/credentials'), files)
  const agents = ['bedrock/global.anthropic.claude-sonnet-4-6', 'vertex/gemini-3.8-flash', 'azure/gpt-5.4']
  machine.settings({
    agents: agents.map((model) => ({ name: model.split('/')[0], kind: 'native', model, contextWindowTokens: 100_000 })),
  })
  const { out } = await machine.run(['doctor', '--quick', '--json'])
  assert.deepEqual(
    (JSON.parse(out) as Record<string, unknown>[]).map(({ name, key, works, next }) => ({ name, key, works, next })),
    [
      {
        name: 'bedrock',
        key: `the AWS profile default in ${home}/.aws/credentials, for bedrock-runtime.eu-central-1.amazonaws.com`,
        works: true,
        next: undefined,
      },
      {
        name: 'vertex',
        key: undefined,
        works: false,
        next: 'There are no Google credentials: run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account.',
      },
      {
        name: 'azure',
        key: undefined,
        works: false,
        next: 'Azure needs the address of your resource: set AZURE_OPENAI_ENDPOINT (https://<resource>.openai.azure.com), or AZURE_OPENAI_RESOURCE to its name, or write `baseURL` into the agent’s settings.',
      },
    ],
  )
})

test(
  'a command of the agent sees neither the clouds’ logins in the home nor their keys in the environment',
  { skip: noSandbox },
  async (t) => {
    const machine = new Machine(t)
    // The temporary folder is hidden as a whole, so this home lies elsewhere.
    const home = realpathSync(mkdtempSync(join('/var/tmp', 'termaite-test-')))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    const places = ['.aws/credentials', '.config/gcloud/adc.json', '.azure/tokens.json', 'named.json', 'plain.txt']
    for (const place of places) {
      mkdirSync(join(home, place, '..'), { recursive: true })
      writeFileSync(join(home, place), `the words in ${place}\n`)
    }
    const way = cloudWays['Bedrock, Claude, signed']!
    // The rules would refuse a command that names these files; a script of the project is held by the sandbox alone.
    writeFileSync(join(machine.project, 'look.sh'), `env; cd ${home}; cat ${places.join(' ')}; echo done\n`)
    const command = 'sh look.sh'
    const steps: Said[] = [{ call: { tool: 'bash', input: { command } } }, { text: 'Looked.' }]
    const seen: string[] = []
    const room = clouds.room(way, (asked) => {
      seen.push(asked.text)
      return speeches.anthropic.say(steps[asked.count - 1]!, asked)
    })
    const agent = { name: 'cloud', kind: 'native', model: way.model, baseURL: room.url }
    machine.settings({ metaInstruction: false, agents: [{ ...agent, contextWindowTokens: 100_000 }] })
    const env = {
      ...way.env(room.url),
      HOME: home,
      GOOGLE_APPLICATION_CREDENTIALS: join(home, 'named.json'),
      AZURE_CLIENT_SECRET: 'entra-secret-0123456789',
      AZURE_OPENAI_AD_TOKEN: 'made-up-entra-token',
    }
    const { code, err } = await machine.call(['-p', 'look', '--leash', 'edit'], { env })
    assert.equal(code, 0, err)
    assert.match(seen[1]!, /done/)
    assert.deepEqual(
      places.filter((place) => seen[1]!.includes(`the words in ${place}`)),
      [],
    )
    for (const name of ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AZURE_CLIENT_SECRET', 'AZURE_OPENAI_AD_TOKEN'])
      assert.ok(!seen[1]!.includes(`${name}=`), name)
  },
)
