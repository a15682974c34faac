import type { ScreenFacts } from '../../src/core/profile/profile.ts'
import type { Screen, Terminal } from '../../src/core/screen/terminal.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { read } from '../../src/core/screen/reading.ts'

/** A CLI in its terminal, and what is done with each scene that it comes to. */
export type Session = { facts: ScreenFacts; terminal: Terminal; keep(scene: string, screen?: Screen): Promise<void> }

/** The time after which a wait counts as endless: then the screen is shown instead. */
const patienceMs = 40_000

export async function until(terminal: Terminal, what: string, seen: (screen: Screen) => boolean): Promise<Screen> {
  let last: Screen | undefined
  for (const began = Date.now(); Date.now() - began < patienceMs; await pause(100)) {
    last = await terminal.screen()
    if (seen(last)) return last
  }
  throw new Error(`${what} did not come:\n${last?.rows.join('\n')}`)
}

/** The state that the marks of the screen alone show. */
function stateOf({ reader }: ScreenFacts, screen: Screen): string {
  const { state, by } = read({ screen, children: 1, quietMs: 0 }, reader)
  return by === 'pattern' ? state : 'none'
}

/** Two looks that are the same: what a program draws in several steps is seen whole. */
async function settled({ facts, terminal }: Session, wanted: string): Promise<void> {
  let before = ''
  await until(terminal, wanted, (screen) => {
    const now = screen.rows.join('\n')
    const still = now === before || wanted === 'busy'
    before = now
    return still && stateOf(facts, screen) === wanted
  })
}

async function say({ facts, terminal, keep }: Session, text: string, wanted: string) {
  await terminal.paste(text)
  await until(terminal, `the prompt ${text}`, (screen) => (facts.composer?.(screen) ?? '') !== '')
  // Gemini takes an Enter right after a paste for a part of it.
  await pause(300)
  await terminal.press('Enter')
  const taken = (screen: Screen) => facts.composer?.(screen) === '' || stateOf(facts, screen) === 'asking'
  await until(terminal, `${text} taken`, taken)
  await settled({ facts, terminal, keep }, wanted)
}

const yes = (label: string) => /^(?:Yes|Trust|Allow)/.test(label)

async function answer({ facts, terminal }: Session, pick?: (label: string) => boolean) {
  const screen = await terminal.screen()
  const dialog = facts.dialog?.(screen)
  if (!dialog) throw new Error(`no dialog is seen:\n${screen.rows.join('\n')}`)
  const option = pick && dialog.question.options.find(({ label }) => pick(label))
  for (const key of dialog.keys(option && [option.id])) {
    await terminal.press(key)
    await pause(100)
  }
  await until(terminal, 'what comes after the answer', (after) => after.rows.join('\n') !== screen.rows.join('\n'))
}

async function emptied({ facts, terminal }: Session) {
  if (facts.composer?.(await terminal.screen())) for (const key of facts.clear ?? []) await terminal.press(key)
  await until(terminal, 'an empty composer', (screen) => facts.composer?.(screen) === '')
}

async function started(session: Session) {
  const { facts, terminal, keep } = session
  const shown = () => until(terminal, 'a start', (screen) => ['idle', 'asking'].includes(stateOf(facts, screen)))
  for (;;) {
    const first = await shown()
    // Gemini and Codex show their composer before they ask whether the folder is trusted.
    if (facts.reader.ready?.test(first.rows.join('\n')) === false && stateOf(facts, first) === 'idle')
      await keep('early', first)
    await pause(2_500)
    const screen = await shown()
    if (stateOf(facts, screen) === 'idle') return
    await keep(facts.dialog?.(screen)?.question.about ?? 'unread')
    await answer(session, yes)
  }
}

const pasted = ['please scene:hang now', 'line two', 'line three', 'line four', 'line five', 'line six'].join('\n')

/** Goes through everything that a CLI shows, and keeps each screen. */
export async function goThrough(session: Session) {
  const { facts, terminal, keep } = session
  await started(session)
  await keep('ready')
  await terminal.paste('a draft of one line')
  await until(terminal, 'the draft', (screen) => facts.composer?.(screen) === 'a draft of one line')
  await keep('draft')
  await emptied(session)
  await terminal.paste(pasted)
  await until(terminal, 'the paste', (screen) => (facts.composer?.(screen) ?? '') !== '')
  await pause(500)
  await keep('pasted')
  await terminal.press('Enter')
  await settled(session, 'busy')
  await keep('busy-at-once')
  await pause(5_000)
  await settled(session, 'busy')
  await keep('busy')
  for (const key of facts.interrupt) await terminal.press(key)
  await settled(session, 'idle')
  await keep('stopped')
  await emptied(session)
  await say(session, 'please scene:shell now', 'asking')
  await keep('shell')
  await answer(session, yes)
  await settled(session, 'idle')
  await keep('done')
  await say(session, 'please scene:edit now', 'asking')
  await keep('edit')
  await answer(session)
  await settled(session, 'idle')
  await keep('declined')
  await emptied(session)
  await say(session, 'please scene:long now', 'idle')
  await keep('long')
  await say(session, 'please scene:fault now', 'idle')
  await keep('fault')
  for (const key of facts.quit) await terminal.press(key)
  await terminal.exited
  await keep('left')
}
