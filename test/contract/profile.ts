import { pathOf } from '../system-path.ts'
import type { Profile } from '../../src/core/profile/profile.ts'
import type { Leash } from '../../src/core/work/agent.ts'
import type { Sign } from '../../src/profiles/shared/failure-signs.ts'
import type { Recording, Told } from '../profiles/replay.ts'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileFor, profileNamed } from '../../src/profiles/all.ts'
import { providerSigns, readMessage } from '../../src/profiles/shared/failure-signs.ts'
import { now, replay } from '../profiles/replay.ts'

/** The facts about a profile that its contract is given: the signs it reads, and for a dialect its recorded runs with their meanings. */
export type ProfileFacts = {
  signs: readonly Sign[]
  runs: Record<string, Recording>
  meanings: Record<string, Told[]>
}

/** The contract of every profile: the properties that shared code may rely on, whichever CLI it is of. */
export function profileContract(profile: Profile, { signs, runs, meanings }: ProfileFacts): void {
  const held = Object.keys(profile.leashes) as Leash[]
  const check = (what: string, body: () => void) => {
    test(`${profile.name}: ${what}`, body)
  }

  check('it is found by its name and by its program, and says all that a person types', () => {
    assert.equal(profileNamed(profile.name), profile)
    for (const word of profile.words) assert.equal(profileFor(`/usr/bin/env KEY=x /opt/bin/${word} --flag`), profile)
    const { title, vendor, install, login, version } = profile
    assert.deepEqual(
      [title, vendor, install, login, version].filter((words) => words.trim() === ''),
      [],
    )
    assert.ok(profile.window >= 100_000)
  })

  check('each leash it can be held to has words, and a command that starts it', () => {
    assert.ok(held.includes('all'))
    for (const leash of held) {
      assert.notEqual(profile.leashes[leash], '')
      assert.ok(callsOf(profile, leash).length > 0, leash)
    }
  })

  check('a model and a thread are data of its command, never code', () => {
    const odd = `it's "$(touch hacked)" \`touch hacked\`; touch hacked`
    for (const leash of held) {
      const words = callsOf(profile, leash, { model: odd, ...(profile.resumes ? { resume: odd } : {}) })
      const found = words.filter((word) => word.includes(odd))
      const expected = takesThread(profile) ? 2 : 1
      assert.ok(found.length === expected || !takesModel(profile), `${leash}: ${words.join(' ')}`)
    }
  })

  check('only the command without a leash is one that switches its safety off', () => {
    const unsafe = held.filter((leash) => profile.unsafe?.test(profile.command({ leash })))
    assert.deepEqual(
      unsafe.filter((leash) => leash !== 'all'),
      [],
    )
    if (profile.unsafe && held.length > 1) assert.deepEqual(unsafe, ['all'])
  })

  check('it speaks its dialect when it composed the command itself, and not by its bare name', () => {
    for (const leash of held)
      assert.equal(profile.speaks(profile.command({ leash })), profile.dialect !== undefined, leash)
    assert.equal(profile.speaks(profile.words[0]!), false)
  })

  check('each sign is read from the message it was made for as its own kind', () => {
    const own = signs.filter((sign) => !isBehind(sign))
    assert.ok(own.length > 0)
    assert.deepEqual(
      own.map(({ said }) => readMessage(signs, said, now)?.kind),
      own.map(({ kind }) => kind),
    )
  })

  check('an answer is no failure, whatever channel it came on', () => {
    assert.equal(profile.failure({ out: 'All is well.\n', err: '', code: 0, now }), undefined)
    assert.equal(profile.failure({ out: '', err: 'a word on the side\n', code: 0, now }), undefined)
  })

  check('each recorded run means what it meant', () => {
    // The second run goes on with the thread that the first answer ended with.
    const first = meanings.answer?.findLast((step) => step.type === 'thread')?.key
    const found = Object.entries(runs).map(([name, run]) => [
      name,
      replay(profile, run, name === 'second' ? first : undefined),
    ])
    assert.deepEqual(Object.fromEntries(found), meanings)
  })

  check('a thread it does not know is seen, and no other end is taken for it', () => {
    assert.equal(profile.resumes, profile.lostThread !== undefined)
    const lost = Object.keys(runs).filter((name) => profile.lostThread?.(runs[name]!.ended))
    assert.deepEqual(lost, profile.resumes ? ['lost'] : [])
  })

  check('what a project may carry for it lies inside the project', () => {
    assert.ok(profile.projectFiles.length > 0)
    assert.deepEqual(
      profile.projectFiles.filter((file) => file.startsWith('/') || file.includes('..')),
      [],
    )
  })
}

/** A provider's words are told without what the CLI puts before them; test/profiles/providers.test.ts holds those. */
const isBehind = ({ says, said }: Sign) =>
  providerSigns.some((sign) => sign.said === said && says.source.endsWith(`(?:${sign.says.source})`))

/** Two of the CLIs have no flag for it; theirs is a setting of their own. */
const takesModel = (profile: Profile) => profile.command({ leash: 'all', model: 'some-model' }).includes('some-model')

/** One of the CLIs is told its thread on stdin. */
const takesThread = (profile: Profile) =>
  profile.command({ leash: 'all', resume: 'some-thread' }).includes('some-thread')

/** The words that reach the program when bash runs the command, seen by a stand-in on the path. */
function callsOf(profile: Profile, leash: Leash, seat: { model?: string; resume?: string } = {}): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'termaite-profile-'))
  try {
    const program = profile.words[0]!
    writeFileSync(join(folder, program), `#!/bin/sh\nprintf '%s\\0' "$0" "$@"\n`, { mode: 0o755 })
    const { stdout, stderr } = spawnSync('bash', ['-c', profile.command({ leash, ...seat })], {
      cwd: folder,
      input: '',
      encoding: 'utf8',
      env: { PATH: pathOf(folder), HOME: folder },
    })
    assert.deepEqual([stderr, spawnSync('ls', [folder], { encoding: 'utf8' }).stdout], ['', `${program}\n`])
    return stdout.split('\0').slice(0, -1)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
