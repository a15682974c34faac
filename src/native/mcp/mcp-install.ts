import type { Io } from '../../core/io.ts'
import type { Change, Consent } from './mcp-entries.ts'
import type { Client } from './clients.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { borderOf } from '../../border/border.ts'
import { homeOf } from '../../home/place.ts'
import { confirm } from '../../questions/terminal-questions.ts'
import { print, say, UsageError } from '../../core/io.ts'
import { carryOut, planInstall, planRemoval, whereabouts, ownEntries } from './mcp-entries.ts'
import { clients } from './clients.ts'
import { backupOf, readConfig, refuseUnwritable } from '../mcp-config/config-file.ts'
import { UnusableConfig } from '../mcp-config/config-format.ts'
import { thisProgram } from '../../base/process/own-program.ts'
import { ownStart } from './own-start.ts'

/** Writes our entry into a client's settings, after the person's yes; `folder` is the default working folder of its agents. */
export async function install(io: Io, name: string | undefined, consent: Consent, folder?: string): Promise<number> {
  const client = clientNamed('install', name)
  const serve = ['mcp', 'serve', ...(folder === undefined ? [] : [`--cwd=${folder}`])]
  const start = ownStart(client, thisProgram(), io.env.PATH, serve)
  return confirmChange(io, client, (file) => planInstall(client, file, start), consent, {
    none: `${client.title} has termaite’s tools already; nothing was changed.`,
    ask: `Write this into the settings of ${client.title}?`,
    done: `${client.title} finds termaite’s tools when it starts next. Undo this with: termaite mcp remove ${client.name}`,
  })
}

/** Removes our entries from a client's settings: the one for our tools, and the one for the hub. */
export async function remove(io: Io, name: string | undefined, consent: Consent): Promise<number> {
  const known = clientNamed('remove', name)
  const path = known.file(whereabouts(io.env))
  const both = ownEntries(whereabouts(io.env)).filter(({ file }) => file.path === path)
  let code = 0
  for (const client of both.length > 0 ? both.map(({ client }) => client) : [known])
    code ||= await confirmChange(io, client, (file) => planRemoval(client, file), consent, {
      none: `The settings of ${client.title} have no entry for termaite.`,
      ask: `Remove this from the settings of ${client.title}?`,
      done: `${client.path.at(-1)} was removed from the settings of ${client.title}.`,
    })
  return code
}

function clientNamed(verb: string, name: string | undefined): Client {
  const found = clients.find((client) => client.name === name)
  if (found) return found
  const allowed = clients.map((client) => client.name).join(', ')
  throw new UsageError(`mcp ${verb}: found ${name === undefined ? 'nothing' : `"${name}"`}, allowed: ${allowed}.`)
}

type ChangeWords = { none: string; ask: string; done: string }

/** Shows a change, asks for a yes, and carries it out; returns the exit code. */
export async function confirmChange(
  io: Io,
  client: Client,
  plan: (file: Change['file']) => Change | undefined,
  { yes, dry }: Consent,
  words: ChangeWords,
): Promise<number> {
  const where = whereabouts(io.env)
  const path = client.file(where)
  try {
    const change = plan(readConfig(path, where.home))
    if (!change) {
      say(io, words.none)
      return 0
    }
    refuseUnwritable(change.file)
    print(io, stripAnsi(borderOf(io.env, homeOf(io.env)).to('export', await changeText(change))))
    if (dry) return 0
    if (!(await confirm(io, words.ask, yes))) {
      say(io, 'Nothing was changed.')
      return 1
    }
    carryOut(change)
    if (change.kind === 'install' && change.file.mode !== undefined)
      say(io, `The file as it was before is kept in ${backupOf(change.file)}`)
    say(io, words.done)
    return 0
  } catch (error) {
    if (error instanceof UnusableConfig) throw new UsageError(`${path} ${error.message}. Nothing was changed.`, 1)
    throw error
  }
}

async function changeText({ file, after }: Change): Promise<string> {
  if (after === undefined) return `${file.real} will be deleted: it holds nothing but the entry for termaite.`
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff')
  const options = { context: 2, headerOptions, timeout: 1_000 }
  const patch = createTwoFilesPatch(file.real, file.real, file.text, after, 'before', 'after', options)
  return patch ?? `${file.real} would change from\n${file.text}\nto\n${after}`
}
