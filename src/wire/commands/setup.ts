import type { Leash } from '../../core/work/agent.ts'
import type { Profile } from '../../core/screen/profile.ts'
import type { Parsed } from '../args.ts'
import type { Io } from '../io.ts'
import { copyFileSync, existsSync } from 'node:fs'
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
  const file = join(home, 'settings.json')
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
  if (existsSync(file)) {
    if (!(await confirm(io, `${file} is there already. Replace it? A copy is kept beside it.`, values.yes === true))) {
      say(io, 'Nothing was changed.')
      return 1
    }
    copyFileSync(file, `${file}.${new Date(io.clock.now()).toISOString().replaceAll(/[:.]/g, '-')}.bak`)
  }
  const agents = found.map((profile) => ({
    name: profile.name,
    profile: profile.name,
    contextWindowTokens: profile.window,
    ...(chosen.includes(profile) ? {} : { enabled: false }),
  }))
  agents.sort((a, b) => rank(chosen, a.name) - rank(chosen, b.name))
  writeSettings(home, { rotationStrategy: 'exhaustion', leash, agents })
  print(
    io,
    `\nWrote ${file}: ${chosen.map(({ name }) => name).join(' → ')}, each until it fails. Try: termaite -p "what is this project?"`,
  )
  return 0
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

function rank(chosen: Profile[], name: string): number {
  const index = chosen.findIndex((profile) => profile.name === name)
  return index < 0 ? chosen.length : index
}
