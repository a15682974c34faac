import type { Env } from '../../base/env.ts'
import { defined } from '../../base/defined.ts'
import { withoutProject } from '../../base/process/program-path.ts'
import type { Io } from '../../core/io.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Notice, Occasion } from '../../core/talk/notice.ts'
import { collect } from '../../base/process/collect.ts'
import { withTimeLimit } from '../../base/time/clock.ts'
import { messageOf } from '../../base/error-message.ts'
import { titleOf, wantsOccasion } from '../../core/talk/notice.ts'
import { stripAnsi } from '../../base/text/ansi.ts'
import { taskView, viewAddress } from './page-link.ts'
import { withoutModelKeys } from '../../core/profile/key-variables.ts'

/**
 * `view` is the part of the hub's page that shows the subject, for example agents/claude-1; without it, the notice links to the task or
 * the inbox. `local` rings this terminal only, because the hub's own process notifies the other places.
 */
export type Notify = (notice: Omit<Notice, 'at' | 'url'> & { view?: string }, local?: boolean) => Promise<void>

/** How long a notifier may take. */
const patienceMs = 10_000

type NotifyParts = {
  io: Pick<Io, 'env' | 'err' | 'clock'>
  cwd: string
  mask(text: string): string
  /** The address of the hub's page, if a hub runs. */
  page?(): string | undefined
  /** Called once for each notifier that fails. */
  warn(words: string): void
}

type Way = { name: string; isLocal: boolean; on?: readonly Occasion[]; send(notice: Notice): Promise<void> }

/**
 * Opens the notifiers of the settings, which tell a person elsewhere about events here. Sending never rejects, and no turn waits for it.
 */
export function openNotify(settings: Pick<Settings, 'notify'>, parts: NotifyParts): Notify {
  const ways = settings.notify.map((way) => wayOf(way, parts))
  const failed = new Set<Way>()
  return async ({ view, ...told }, local = false) => {
    const { io, mask, warn, page } = parts
    const wanted = ways.filter(({ on, isLocal }) => wantsOccasion(on, told.event) && (isLocal || !local))
    if (wanted.length === 0) return
    const at = new Date(io.clock.now()).toISOString()
    const url = viewAddress(page?.(), view ?? (told.task === undefined ? 'inbox' : taskView(told.task)))
    const notice: Notice = defined({ ...told, text: mask(told.text), at, url })
    await Promise.all(
      wanted.map(async (way) => {
        try {
          await way.send(notice)
        } catch (error) {
          if (!failed.has(way)) warn(`notify: ${way.name} failed: ${mask(messageOf(error))}`)
          failed.add(way)
        }
      }),
    )
  }
}

function wayOf(way: Settings['notify'][number], parts: NotifyParts): Way {
  const { io, cwd } = parts
  if (typeof way === 'string') return { name: way, isLocal: true, send: async (notice) => ring(way, notice, io) }
  const { on, ntfy, command } = way
  if (ntfy !== undefined)
    return defined({ name: 'ntfy', isLocal: false, on, send: (notice: Notice) => post(ntfy, notice, io) })
  const send = (notice: Notice) => run(command!, notice, { ...io, cwd })
  return defined({ name: 'the command', isLocal: false, on, send })
}

/** Rings the terminal, if there is one. */
function ring(way: 'desktop' | 'bell', notice: Notice, { env, err }: NotifyParts['io']): void {
  if (err.isTTY) err.write(way === 'bell' ? '\u0007' : desktopBytes(notice, env))
}

/** Posts a notice to ntfy. A server's token is read from NTFY_TOKEN, as ntfy's own program does. */
async function post(url: string, notice: Notice, { env, clock }: NotifyParts['io']): Promise<void> {
  const { fetchFor } = await import('../../base/http/proxied-fetch.ts')
  const headers = defined({
    // Headers are Latin-1, so the title is encoded in the way that ntfy decodes.
    title: `=?UTF-8?B?${Buffer.from(titleOf(notice)).toString('base64')}?=`,
    tags: notice.event,
    click: notice.url,
    priority: notice.event === 'done' || notice.event === 'progress' ? undefined : 'high',
    authorization: env.NTFY_TOKEN ? `Bearer ${env.NTFY_TOKEN}` : undefined,
  }) as Record<string, string>
  const answer = await withTimeLimit(clock, patienceMs, (signal) =>
    fetchFor(env)(url, { method: 'POST', body: notice.text, headers, signal }),
  )
  if (!answer.ok) throw new Error(`the server answered with HTTP ${answer.status}`)
}

async function run(command: string, notice: Notice, place: NotifyParts['io'] & { cwd: string }): Promise<void> {
  const { cwd, clock } = place
  const env = withoutModelKeys(withoutProject(place.env, cwd))
  await withTimeLimit(clock, patienceMs, async (signal) => {
    const options = { cwd, env, input: `${JSON.stringify(notice)}\n`, signal }
    const { code, err, error } = await collect('bash', ['-c', command], options)
    signal.throwIfAborted()
    if (code !== 0)
      throw (
        error ??
        new Error(
          err.trim().split('\n').at(-1) || `the command ended with ${code === undefined ? 'a signal' : `code ${code}`}`,
        )
      )
  })
}

const longest = 200

/** The sequences of a desktop notification, and a bell. A terminal acts on the sequence that it supports and ignores the others. */
export function desktopBytes(notice: Notice, env: Env): string {
  const title = plain(titleOf(notice))
  const text = [plain(notice.text), ...(notice.url === undefined ? [] : [plain(notice.url)])].join(' ')
  const sequences = [`\u001b]9;${title}: ${text}\u0007`, `\u001b]777;notify;${title};${text}\u0007`]
  return `${sequences.map((one) => (env.TMUX ? through(one) : one)).join('')}\u0007`
}

/** Wraps a sequence so that tmux passes it on to its terminal. */
const through = (sequence: string) => `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}\u001b\\`

/** Puts a text on one line, without characters that could end the sequence or begin another. */
function plain(text: string): string {
  return stripAnsi(text)
    .replaceAll(/[\u0000-\u001f\u007f-\u009f;\s]+/g, ' ')
    .trim()
    .slice(0, longest)
}
