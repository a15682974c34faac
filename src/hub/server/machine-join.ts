import type { Program } from '../../base/process/own-program.ts'
import type { Io } from '../../core/io.ts'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../base/files/files.ts'
import { shortHash } from '../../base/hash.ts'
import { nodeProgram, thisProgram } from '../../base/process/own-program.ts'
import { shellWord } from '../../base/text/shell-word.ts'
import { say, UsageError } from '../../core/io.ts'
import { hashOf, newSecret } from '../engine/access/secret.ts'
import { HubRefused } from '../engine/remote-hub.ts'
import { hubProtocol, skewWords } from '../model/hub-protocol.ts'
import { homeOf } from '../../home/place.ts'
import { readKey, writeKey } from '../client/server-access.ts'
import { version } from '../../base/version.ts'
import { AgentUnits, runProgram } from './agent-unit.ts'
import { isOwnHub } from '../client/hub-address.ts'
import { faultOf, HubClient } from '../client/hub-client.ts'

/** `code` asks the person for the code if the command line has none; `options` are options of `termaite agent`. */
type JoinWish = { url: string; code(): Promise<string>; options: readonly string[]; service: boolean }

/** A machine's record of a hub that it has joined. The key is in a file next to it. */
type Joined = { url: string; name: string }

/** If the clocks differ by more than this, the expiry of keys and certificates and the times on the page are wrong. */
const mostSkewMs = 60_000

const joinedIn = (home: string) => join(home, 'joined')

/**
 * The normal form of a hub's address. Anybody on the way could read a code that is sent as plain text, so plain HTTP is only allowed to
 * this machine itself.
 */
export function hubAddressOf(typed: string): string {
  const url = URL.parse(typed)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`agent join: found "${typed}", allowed: the address of a hub, as in https://hub.example.`)
  if (url.protocol === 'http:' && !isOwnHub(url.href))
    throw new UsageError(
      `agent join: the code would go to ${url.host} in plain text. Use the https:// address of the hub; docs/fleet.md says how it gets one.`,
    )
  return url.href.replace(/\/+$/, '')
}

/**
 * Joins this machine to a hub as an agent machine: the code is exchanged for a key, whose secret is made here and sent to nobody, and the
 * agent is started. The command can be repeated: a machine that has joined needs no further code.
 */
export async function joinHub(io: Io, { url, code, options, service }: JoinWish): Promise<void> {
  const home = homeOf(io.env)
  const folder = join(joinedIn(home), shortHash(url))
  const keyFile = join(folder, 'key')
  makeFolder(folder)
  const name = (await knownName(io, url, keyFile)) ?? (await exchange(io, url, keyFile, code))
  const joined: Joined = { url, name }
  writeFileSync(join(folder, 'join.json'), `${JSON.stringify(joined)}\n`, { mode: 0o600 })
  say(io, `This machine is joined to ${url} as ${name}. Its key is in ${keyFile}, which only you can read.`)
  const args = ['agent', `--server=${url}`, `--key-file=${keyFile}`, '--yes', ...options]
  const program = await stableProgram(io, home)
  await checkAgent(io, program, args)
  const command = [...program, ...args]
  const units = new AgentUnits(io)
  if (!service || !(await units.isThere())) {
    const why = service ? 'There is no systemd for your user here. ' : ''
    say(io, `${why}Start the agent in ${io.cwd} with:\n${command.map(shellWord).join(' ')}`)
    return
  }
  const words = await units.start({ name, about: url, cwd: io.cwd, command, home })
  say(io, [`The agent runs, and starts with this machine (${units.fileOf(name)}).`, ...words].join('\n'))
}

/** The name under which the hub knows the stored key; undefined if no key is stored, or if the hub does not know it. */
async function knownName(io: Io, url: string, keyFile: string): Promise<string | undefined> {
  const key = readKey(keyFile)
  if (key === undefined) return undefined
  const hub = new HubClient({ url, key, env: io.env })
  try {
    const { name, role } = await hub.me()
    if (role === 'agent') return name
    throw new UsageError(
      `agent join: the key in ${keyFile} has the role ${role}, not agent. Move the file away first.`,
      1,
    )
  } catch (error) {
    if (error instanceof HubRefused && error.status === 401) return undefined
    throw faultOf(hub, error)
  }
}

/** Exchanges a code for a key. The secret is on the disk before the hub gets its hash, so that a lost answer does not waste the code. */
async function exchange(io: Io, url: string, keyFile: string, code: () => Promise<string>): Promise<string> {
  const typed = await code()
  const secret = readKey(keyFile) ?? newSecret()
  writeKey(keyFile, secret)
  const hub = new HubClient({ url, env: io.env })
  try {
    const joined = await hub.join(typed, hashOf(secret))
    const skew = skewWords(joined, { version, protocol: hubProtocol }, url)
    if (skew !== undefined) say(io, `termaite: ${skew}`)
    const apart = Math.abs(joined.now - io.clock.now())
    if (apart > mostSkewMs)
      say(
        io,
        `termaite: the clocks of this machine and of the hub are ${Math.round(apart / 1000)} s apart. Set them by the network, or keys and certificates expire at the wrong time.`,
      )
    return joined.name
  } catch (error) {
    if (!(error instanceof HubRefused)) throw faultOf(hub, error)
    // The hub did not accept the key, so the file is useless.
    rmSync(keyFile, { force: true })
    throw new UsageError(`agent join: ${error.message}`, 1)
  }
}

/** The lasting place of the program: npx runs it from a folder that npx cleans up later. */
async function stableProgram(io: Io, home: string): Promise<Program> {
  const program = thisProgram()
  if (!program.some((word) => word.includes('/_npx/'))) return program
  const folder = join(joinedIn(home), 'program')
  makeFolder(folder)
  say(io, `Installing termaite ${version} into ${folder} …`)
  const args = ['install', '--no-fund', '--no-audit', '--prefix', folder, `termaite@${version}`]
  const { code, said } = await runProgram(io, 'npm', args, 600_000)
  const file = join(folder, 'node_modules', 'termaite', 'bin', 'termaite.cjs')
  if (code === 0 && existsSync(file)) return [...nodeProgram(), file]
  throw new UsageError(
    `agent join: npm could not install termaite: ${said}\nThe machine is joined. Install termaite yourself (npm install --global termaite), then run: termaite agent join <the same address>`,
    1,
  )
}

/** Has the agent plan a dry run, so that a missing CLI or login is reported here and not in a log. */
async function checkAgent(io: Io, [word, ...rest]: Program, args: readonly string[]): Promise<void> {
  const { code, said } = await runProgram(io, word, [...rest, ...args, '--dry-run'])
  if (code !== 0)
    throw new UsageError(
      `agent join: the agent cannot start yet: ${said.replace(/^termaite: /, '')}\nThe machine is joined and keeps its key. Fix this, then run the same line again; it needs no code any more.`,
      1,
    )
}

/**
 * Undoes a join: stops the agent and its unit, revokes the key at the hub, and removes the files here. `typed` names the hub if there are
 * several.
 */
export async function leaveHub(io: Io, typed: string | undefined): Promise<void> {
  const all = joinedIn(homeOf(io.env))
  const known = hubsIn(all)
  const url = typed === undefined ? undefined : hubAddressOf(typed)
  const found = known.filter((each) => url === undefined || each.url === url)
  if (found.length !== 1)
    throw new UsageError(
      known.length === 0 || found.length === 0
        ? `agent leave: this machine has not joined ${url ?? 'any hub'}.`
        : `agent leave: this machine has joined ${known.map((each) => each.url).join(' and ')}. Name one of them.`,
      1,
    )
  const [{ name, url: address, folder }] = found as [Joined & { folder: string }]
  if (await new AgentUnits(io).remove(name)) say(io, `Stopped the agent ${name} and removed its unit.`)
  const key = readKey(join(folder, 'key'))
  const hub = new HubClient({ url: address, ...(key === undefined ? {} : { key }), env: io.env })
  const fault = await hub.endKey(AbortSignal.timeout(10_000)).then(
    () => undefined,
    (error: unknown) => (error instanceof HubRefused && error.status === 401 ? undefined : faultOf(hub, error)),
  )
  rmSync(folder, { recursive: true, force: true })
  if (fault === undefined) return say(io, `This machine has left ${address}. The key of ${name} no longer works.`)
  throw new UsageError(
    `The key of ${name} was removed from this machine, but it still works at the hub (${fault instanceof Error ? fault.message : String(fault)}) Revoke it there: termaite hub keys revoke ${name}`,
    1,
  )
}

function hubsIn(all: string): (Joined & { folder: string })[] {
  const names = existsSync(all) ? readdirSync(all) : []
  return names.flatMap((each) => {
    const folder = join(all, each)
    const file = join(folder, 'join.json')
    return existsSync(file) ? [{ ...(JSON.parse(readFileSync(file, 'utf8')) as Joined), folder }] : []
  })
}
