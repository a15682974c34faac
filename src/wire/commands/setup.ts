import type { Leash } from '../../core/work/agent.ts'
import type { Profile } from '../../core/screen/profile.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import type { FileSettings } from '../settings/schema.ts'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { leashes } from '../../core/work/agent.ts'
import { profiles } from '../../profiles/all.ts'
import { ask, confirm } from '../confirm.ts'
import { installedProfiles, loginTraces } from '../found.ts'
import { print, say } from '../io.ts'
import { homeOf } from '../place.ts'
import { writeSettings } from '../settings/write.ts'
import { table } from '../table.ts'

/** Never `all`: setup picks no flag that switches a CLI's own safety off. */
const offered: readonly Leash[] = leashes.filter((leash) => leash !== 'all')

export async function run(io: Io, { values }: Parsed): Promise<number> {
  const home = homeOf(io.env)
  const found = installedProfiles(io.env)
  if (found.length === 0) {
    say(io, 'termaite: no agent CLI is installed here. Install one, then run setup again:')
    for (const { title, install } of profiles.slice(0, 4)) say(io, `  ${title.padEnd(12)} ${install}`)
    say(io, 'Or see it work without any: termaite demo')
    return 1
  }
  const asks = io.in.isTTY === true && values.yes !== true
  print(io, 'Found on this machine:\n')
  print(
    io,
    table(
      found.map((profile, index) => [
        `  ${index + 1}`,
        profile.title,
        words(profile, 'ask'),
        loginTraces(profile, io.env) ? 'login found' : `log in with: ${profile.login}`,
      ]),
    ),
  )
  const chosen = asks ? await order(io, found) : found
  const leash = asks ? await chooseLeash(io, chosen) : 'ask'
  const before = ['settings.json', 'config.yaml'].map((name) => join(home, name)).filter(existsSync)
  const question = `${before.join(' and ')} ${before.length > 1 ? 'are' : 'is'} there already. Replace? A copy is kept.`
  if (before.length > 0 && !(await confirm(io, question, values.yes === true))) {
    say(io, 'Nothing was changed.')
    return 1
  }
  const held = chosen.filter((profile) => profile.leashes[leash] !== undefined)
  const agents = [...held, ...found.filter((profile) => !held.includes(profile))].map((profile) => ({
    name: profile.name,
    profile: profile.name,
    contextWindowTokens: profile.window,
    ...(held.includes(profile) ? {} : { enabled: false }),
  }))
  const file = replaceSettings(io, home, before, { rotationStrategy: 'exhaustion', leash, agents })
  for (const { name } of chosen.filter((profile) => !held.includes(profile)))
    print(io, `\n${name} cannot be held to the leash "${leash}" and is switched off; ${trusted}`)
  if (held.length === 0) {
    print(io, `\nWrote ${file}, but nobody takes turns yet.`)
    return 1
  }
  const line = held.map(({ name }) => name).join(' → ')
  print(io, `\nWrote ${file}: ${line}, each until it fails. Try: termaite -p "what is this project?"`)
  return 0
}

const trusted = 'to let it do everything, give it "enabled": true and "leash": "all" with: termaite config edit'

/** The new settings are there before an old config.yaml goes: beside them it would still be read. */
function replaceSettings(io: Io, home: string, before: readonly string[], settings: FileSettings): string {
  const moment = new Date(io.clock.now()).toISOString().replaceAll(/[:.]/g, '-')
  for (const old of before) copyFileSync(old, `${old}.${moment}.bak`)
  const file = writeSettings(home, settings)
  for (const old of before) if (old !== file) rmSync(old)
  return file
}

async function order(io: Io, found: Profile[]): Promise<Profile[]> {
  for (;;) {
    const answer = (
      await ask(io, '\nWho takes turns, in which order? Enter for all as listed, or numbers (2 1): ')
    ).trim()
    if (answer === '') return found
    const picked = answer.split(/[\s,]+/).map((part) => found[Number(part) - 1])
    if (picked.every((profile) => profile !== undefined) && new Set(picked).size === picked.length)
      return picked as Profile[]
    say(io, `Numbers from 1 to ${found.length}, each once.`)
  }
}

async function chooseLeash(io: Io, chosen: Profile[]): Promise<Leash> {
  print(io, '\nHow much may they do?')
  for (const leash of offered)
    print(io, `  ${leash.padEnd(5)} ${chosen.map((profile) => `${profile.name}: ${words(profile, leash)}`).join('; ')}`)
  for (;;) {
    const answer = (await ask(io, `Enter for ask, or one of ${offered.join(', ')}: `)).trim() || 'ask'
    if (offered.includes(answer as Leash)) return answer as Leash
  }
}

function words(profile: Profile, leash: Leash): string {
  return profile.leashes[leash] ?? 'cannot be held to it'
}
