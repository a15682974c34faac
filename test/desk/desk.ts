import type { TestContext } from 'node:test'
import type { Clock } from '../../src/base/time/clock.ts'
import type { CommandList } from '../../src/core/talk/command.ts'
import type { DeskEvent } from '../../src/chat/desk/chat-desk.ts'
import type { DeskControls } from '../../src/desk/desk-controls.ts'
import type { AgentSettings } from '../../src/settings/agent-settings.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realClock } from '../../src/base/time/clock.ts'
import { noBudget } from '../../src/core/work/budget.ts'
import { ProjectDesk } from '../../src/desk/project-desk.ts'
import { leashKeyCommand } from '../../src/desk/slash/agents/leash.ts'
import { setupCommand } from '../../src/desk/slash/setup.ts'
import { DeskApp } from '../../src/desk/desk-app.ts'
import { placeOf } from '../../src/home/place.ts'
import { readSettings } from '../../src/settings/settings.ts'

export type Sat = { desk: ProjectDesk; heard: DeskEvent[]; until(what: (heard: DeskEvent[]) => boolean): Promise<void> }

/** A folder of one's own with a project in it. */
export function folderOf(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'termaite-test-')))
  mkdirSync(join(folder, 'project'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export type Seating = {
  clock?: Clock
  /** The PATH on which commands are looked for, where it is not the usual one. */
  path?: string
  /** Variables of the agents besides the usual ones. */
  env?: Record<string, string | undefined>
  commands?(controls: DeskControls): CommandList
  /** Agents besides the plain commands. */
  agents?: AgentSettings[]
  wishes?: { fresh?: boolean; name?: string; ephemeral?: boolean; keepsAgents?: true }
}

/** A desk over real parts, with plain commands as agents, and somebody who listens. */
export async function sitDown(
  t: TestContext,
  folder: string,
  commands: Record<string, string>,
  { clock = realClock, wishes = {}, path = process.env.PATH!, ...seating }: Seating = {},
): Promise<Sat> {
  const streams = { in: new PassThrough(), out: new PassThrough(), err: new PassThrough() }
  const env = {
    ...{ PATH: path, HOME: folder, TERMAITE_KEYCHAIN: 'off', TERMAITE_HOME: join(folder, 'termaite') },
    ...seating.env,
  }
  const stop = new AbortController()
  const io = { env, cwd: join(folder, 'project'), piped: false, ...streams, clock, signal: stop.signal }
  const place = placeOf(io)
  const plain = Object.entries(commands).map(([name, command]): AgentSettings => ({
    name,
    kind: 'pipe',
    command,
    contextWindowTokens: 10_000,
  }))
  const agents = [...plain, ...(seating.agents ?? [])]
  const read = async () => ({ ...(await readSettings({ home: place.home }, { env })), agents })
  const deskApp = await DeskApp.open({
    io,
    place,
    read,
    settings: await read(),
    wishes: { ...wishes, budget: noBudget },
  })
  const desk = new ProjectDesk(deskApp, {
    commands: seating.commands ?? (() => []),
    firstStart: setupCommand,
    leashKey: leashKeyCommand,
  })
  const heard: DeskEvent[] = []
  const looks = new Set<() => void>()
  void (async () => {
    for await (const happening of desk.events(stop.signal)) {
      heard.push(happening)
      for (const look of looks) look()
    }
  })()
  t.after(async () => {
    desk.cancel()
    await desk.idle()
    await desk.close()
    stop.abort()
  })
  const until = (what: (heard: DeskEvent[]) => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!what(heard)) return
        looks.delete(look)
        resolve()
      }
      looks.add(look)
      look()
    })
  await desk.begun()
  return { desk, heard, until }
}

export const closings = (heard: readonly DeskEvent[]) =>
  heard.flatMap((one) => (one.type === 'closing' ? [one.closing] : []))

export const replies = (heard: readonly DeskEvent[]) =>
  heard.flatMap((one) => (one.type === 'event' && one.event.type === 'reply' ? [one.event.text] : []))

export const questions = (heard: readonly DeskEvent[]) =>
  heard.flatMap((one) => (one.type === 'event' && one.event.type === 'question' ? [one.event] : []))

/** A screen that nobody looks at. */
export function seat() {
  return {
    suspend: <T>(work: () => Promise<T>) => work(),
    copy: async () => '',
    clear() {},
    palette() {},
    keys() {},
    exit() {},
    fill(_text: string) {},
  }
}
