import type { Page } from 'playwright-core'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser, violations } from './browser.ts'

const diff = (line: string) => `diff --git a/greeting.txt b/greeting.txt
--- a/greeting.txt
+++ b/greeting.txt
@@ -1,2 +1,2 @@
 first
-last
+${line}
`

/** A person who has no mouse: everything is typed, and Tab goes to a thing by the name that a screen reader says. */
class Keyboard {
  readonly #page: Page

  constructor(page: Page) {
    this.#page = page
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.#page.keyboard.press(key)
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text)
  }

  /** Presses a key until the focus is on something with this name. */
  async reach(name: RegExp, key = 'Tab'): Promise<void> {
    const passed: string[] = []
    for (let times = 0; times < 80; times++) {
      const said = (await this.#page.evaluate(focusedName)) as string
      if (name.test(said)) return
      passed.push(said)
      await this.press(key)
    }
    assert.fail(`${key} never reached ${name}: ${passed.join(' | ')}`)
  }
}

/** The name of the focused element: its label, what labels it, or its text. */
const focusedName = `(() => {
  const at = document.activeElement
  if (at === document.body || at.id === 'main') return ''
  return [at.getAttribute('aria-label'), ...[...(at.labels ?? [])].map((label) => label.textContent), at.innerText]
    .filter((text) => text).join(' ')
})()`

test('the keyboard alone leads through the whole story of a task', { skip: noBrowser, timeout: 90_000 }, async (t) => {
  const browser = await startBrowser()
  t.after(() => browser.close())
  const at = new PageMachine(t)
  await at.serve()
  const claude = await at.agent('claude-1')
  await at.agent('editor-1')
  const { person } = at
  const { signal } = new AbortController()
  const { page, outside, faults } = await at.open(browser)
  const keys = new Keyboard(page)
  const complaints: unknown[] = []
  const checked = async (screen: string) =>
    complaints.push(...(await violations(page)).map((each) => [screen, ...each]))
  const state = (wanted: string) =>
    until(async () => {
      const [task] = await person.tasks()
      return task?.state === wanted && task
    })
  const given = async () => {
    const next = await claude.wait('claude-1', 10, signal)
    assert.equal(next.type, 'task')
    const ticket = next.type === 'task' ? next.ticket : ''
    await claude.tell(ticket, 'ack', { agent: 'claude-1' })
    return ticket
  }
  await shows(page, 'user · admin')

  // The agents, and one of them opened.
  await keys.press('g', 'a')
  await page.getByRole('heading', { name: 'Agents' }).waitFor()
  await page.getByRole('link', { name: 'claude-1' }).waitFor()
  await keys.reach(/^claude-1$/, 'j')
  await keys.press('Enter')
  await page.getByRole('heading', { name: /claude-1/ }).waitFor()
  await checked('agent')

  // A new task.
  await keys.press('g', 't')
  await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
  await keys.press('n')
  await keys.reach(/What is to be done/)
  await keys.type('Write a greeting')
  await keys.reach(/Workspace/)
  await keys.type('/shop')
  await keys.reach(/^Add$/)
  await keys.press('Enter')
  await page.getByRole('link', { name: 'Write a greeting' }).waitFor()

  // The agent asks, and is answered.
  const ticket = await given()
  await claude.ask('claude-1', {
    id: 'q1',
    text: 'Write greeting.txt?',
    options: [
      { id: 'yes', label: 'Yes, once' },
      { id: 'no', label: 'No' },
    ],
    task: ticket.split('.')[0]!,
  })
  await keys.press('g', 'i')
  await shows(page, 'Write greeting.txt?')
  await keys.reach(/asks/, 'j')
  await keys.press('1')
  const answered = await until(async () => (await person.agent('claude-1')).answered)
  assert.deepEqual(answered, { ask: 'q1', picks: ['yes'], by: 'user' })

  // The review: a comment, and back it goes.
  await claude.respond(ticket, 'claude-1', { status: 'IN_REVIEW', message: 'Written.', diff: diff('hello wrld') })
  await shows(page, 'Written.')
  await keys.reach(/Write a greeting/, 'j')
  await keys.press('Enter')
  await shows(page, 'hello wrld')
  await checked('review')
  await keys.reach(/Comment/)
  await keys.type('The word is "world".')
  await keys.reach(/Send back/)
  await keys.press('Enter')
  const again = await given()
  await claude.respond(again, 'claude-1', { status: 'IN_REVIEW', message: 'Mended.', diff: diff('hello world') })

  // The second try is approved.
  await shows(page, 'Mended.')
  await shows(page, 'hello world')
  await keys.reach(/^Approve/)
  await keys.press('Enter')
  const task = await state('APPROVED')
  assert.deepEqual(
    task.tries?.map(({ agent, result }) => [agent, result?.message]),
    [
      ['claude-1', 'Written.'],
      ['claude-1', 'Mended.'],
    ],
  )

  // The agent is removed.
  await keys.press('g', 'a')
  await page.getByRole('link', { name: 'claude-1' }).waitFor()
  await keys.reach(/^claude-1$/, 'j')
  await keys.press('x')
  await checked('agents')
  assert.deepEqual([complaints, outside, faults], [[], [], []])
})
