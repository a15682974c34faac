import { test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { commands } from '../../src/cli/commands.ts'
import { parse } from '../../src/cli/arguments/args.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

type Service = {
  image?: string
  build?: { target: string }
  command?: string[]
  ports?: string[]
  networks: string[] | Record<string, unknown>
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  volumes?: string[]
  configs?: { source: string; target: string }[]
}

type Compose = {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
  configs: Record<string, { content: string }>
}

const compose = () => parseYaml(read('deploy/compose.yaml'), { merge: true }) as Compose

/** Parses the words after `termaite` as the program does; throws what the person would read. */
function parsed(words: readonly string[]) {
  const command = commands.find(({ name }) => name === words[0])
  assert.ok(command, `there is no command ${words[0]}`)
  return parse(command, words.slice(1))
}

/** The words of a line of a shell, without quotes; a variable is a word. */
const wordsOf = (line: string) =>
  line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)?.map((word) => word.replaceAll(/["']/g, '')) ?? []

test('every line that calls termaite in deploy/ and in docs/fleet.md is one that the program takes', () => {
  const files = [
    'deploy/Dockerfile',
    'deploy/compose.yaml',
    'deploy/termaite-hub.service',
    'deploy/termaite-agent@.service',
    'docs/fleet.md',
  ]
  const lines = files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line) => {
        const [, called] =
          /(?:^|\bexec hub-1 |\benv |`)termaite ((?:serve|agent|hub|task|report|dashboard|crew)\b[^`#(|]*)/.exec(
            line.trim().replace(/^# +/, ''),
          ) ?? []
        return called === undefined ? [] : [[file, called.trim()] as const]
      }),
  )
  assert.ok(lines.length > 10, `only ${lines.length} lines were found`)
  for (const [file, line] of lines)
    assert.doesNotThrow(
      () => parsed(wordsOf(line).filter((word) => !word.startsWith('$') && word !== '…')),
      `${file}: termaite ${line}`,
    )
})

test('the commands of the images and of compose are ones that the program takes', () => {
  const inDockerfile = [...read('deploy/Dockerfile').matchAll(/^CMD (\[.*\])$/gm)].map(
    ([, words]) => JSON.parse(words!) as string[],
  )
  const inCompose = Object.values(compose().services).flatMap(({ build, command }) =>
    build && command ? [command] : [],
  )
  assert.deepEqual([inDockerfile.length, inCompose.length], [2, 2])
  for (const words of [...inDockerfile, ...inCompose]) assert.doesNotThrow(() => parsed(words), words.join(' '))
})

test('compose: only the proxy is reached from outside, and the hubs have no more than they need', () => {
  const { services, networks, configs } = compose()
  assert.deepEqual(
    Object.entries(services).flatMap(([name, { ports }]) => (ports ? [name] : [])),
    ['proxy'],
  )
  assert.deepEqual(
    Object.entries(networks).flatMap(([name, network]) => (network?.internal ? [name] : [])),
    ['hubs', 'database'],
  )
  for (const name of ['hub-1', 'hub-2']) {
    const { build, read_only, cap_drop, security_opt, networks: in_, volumes, configs: mounted } = services[name]!
    assert.deepEqual(
      { target: build!.target, read_only, cap_drop, security_opt, in_, volumes, mounted },
      {
        target: 'hub',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        in_: ['database', 'hubs'],
        volumes: [`${name}:/var/lib/termaite`],
        mounted: [{ source: name, target: '/var/lib/termaite/.termaite/settings.json' }],
      },
    )
    assert.deepEqual(JSON.parse(configs[name]!.content), { hub: { innerUrl: `http://${name}:3456` } })
  }
})

test('the images run as an ordinary user, and no file of deploy/ holds a password', () => {
  const stages = read('deploy/Dockerfile')
    .split(/^FROM /m)
    .slice(1)
  const users = stages.map((stage) => [/ AS (\w+)/.exec(stage)![1], [...stage.matchAll(/^USER (.*)$/gm)].at(-1)?.[1]])
  assert.deepEqual(users, [
    ['build', undefined],
    ['termaite', '10001:10001'],
    ['hub', undefined],
    ['agent', '10001:10001'],
  ])
  const passwords = [...read('deploy/compose.yaml').matchAll(/^\s+\w*PASSWORD: (.*)$/gm)].map(([, value]) => value)
  assert.ok(passwords.length > 0)
  for (const value of passwords) assert.match(value!, /^\$\{\w+:\?/)
})
