import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser } from './browser.ts'

const options = { timeout: 60_000 }
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

const diff = `diff --git a/src/sum.ts b/src/sum.ts
--- a/src/sum.ts
+++ b/src/sum.ts
@@ -1 +1 @@
-round(price)
+round(sum)
`

const { signal } = new AbortController()

/** A hub with an agent that asks, a task in review and a blocked one. */
async function busyHub(t: TestContext) {
  const at = new PageMachine(t)
  await at.serve()
  const claude = await at.agent('claude-1')
  const { person } = at
  const task = async (prompt: string) => {
    const { id } = await person.add({ prompt, workspace: '/shop', capabilities: [], needs: [] })
    const given = await claude.wait('claude-1', 5, signal)
    assert.equal(given.type, 'task')
    return { id, ticket: given.type === 'task' ? given.ticket : '' }
  }
  const review = await task('Round the prices once')
  await claude.respond(review.ticket, 'claude-1', { status: 'IN_REVIEW', message: 'Rounded at the end.', diff })
  const asking = await task('Publish the package')
  await claude.tell(asking.ticket, 'ack', { agent: 'claude-1' })
  await claude.ask('claude-1', {
    id: 'q1',
    text: 'Run npm publish?',
    options: [
      { id: 'yes', label: 'Yes, once' },
      { id: 'no', label: 'No' },
    ],
    task: asking.id,
  })
  return { at, person, claude, review, asking }
}

describe('the page in a browser', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test('a person answers, comments, approves and adds by the keyboard alone', options, async (t) => {
    const { at, person, review } = await busyHub(t)
    const { page, outside, faults } = await at.open(browser)
    await shows(page, 'Run npm publish?')
    assert.equal(new URL(page.url()).hash, '#/inbox', 'the secret of the link is gone from the address')
    // The oldest item is the review; the question is the next row.
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('1')
    const answered = await until(async () => (await person.agent('claude-1')).answered)
    assert.deepEqual(answered, { ask: 'q1', picks: ['yes'], by: 'user' })
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await shows(page, '+round(sum)')
    await page.getByRole('textbox', { name: 'Comment' }).focus()
    await page.keyboard.type('Good.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shows(page, 'user, comment: Good.')
    await page.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    const approved = await until(async () => {
      const task = await person.task(review.id)
      return task.state === 'APPROVED' && task
    })
    assert.deepEqual(
      approved.notes.filter(({ kind }) => kind === 'comment').map(({ by, text }) => [by, text]),
      [['user', 'Good.']],
    )
    await page.goto(`${at.url}/#/tasks`)
    await page.getByRole('textbox', { name: 'What is to be done' }).focus()
    await page.keyboard.type('Write a test')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Write a test' }).waitFor()
    assert.deepEqual([outside, faults], [[], []])
  })

  test('marked tasks are tried sooner, given to an agent and cancelled together', options, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    await at.agent('other-1')
    const { person } = at
    const { page, faults } = await at.open(browser)
    await page.goto(`${at.url}/#/tasks`)
    await page.getByText('Agent, priority, capabilities').click()
    await page.getByLabel('What is to be done').fill('first')
    await page.getByLabel('Capabilities that the agent needs').fill('rust')
    await page.getByLabel('Priority').fill('2')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'first' }).waitFor()
    await page.getByLabel('What is to be done').fill('second')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'second' }).waitFor()
    const marked = async (...names: string[]) => {
      for (const name of names) await page.getByRole('button', { name: `Mark ${name}` }).click()
    }
    const seen = async (wanted: string) => {
      const rows = async () =>
        (await person.tasks())
          .map(({ prompt, priority, wish = '', state, capabilities }) =>
            [prompt, priority, wish, state, ...capabilities].join(' '),
          )
          .toSorted()
          .join('\n')
      await until(async () => (await rows()) === wanted)
    }
    await seen('first 2  QUEUED rust\nsecond 0  QUEUED')
    await marked('first', 'second')
    await page.getByRole('button', { name: 'Sooner' }).click()
    await seen('first 3  QUEUED rust\nsecond 1  QUEUED')
    await marked('second')
    await page.getByLabel('Give the waiting tasks to').selectOption('other-1')
    await seen('first 3  QUEUED rust\nsecond 1 other-1 QUEUED')
    await marked('first', 'second')
    await page.getByRole('button', { name: 'Cancel (2)' }).click()
    await seen('first 3  CANCELLED rust\nsecond 1 other-1 CANCELLED')
    await marked('first')
    await page.getByRole('button', { name: 'Try again (1)' }).click()
    await seen('first 3  QUEUED rust\nsecond 1 other-1 CANCELLED')
    assert.deepEqual(faults, [])
  })

  test('a page that was open while the hub was killed misses nothing', options, async (t) => {
    const { at } = await busyHub(t)
    const { page, faults } = await at.open(browser)
    await shows(page, 'user · admin')
    await at.killHub()
    await shows(page, 'Trying again')
    await at.serve()
    await at.person.add({ prompt: 'Added while you were away', workspace: '/shop', capabilities: [], needs: [] })
    await shows(page, 'user · admin')
    await page.goto(`${at.url}/#/tasks`)
    await shows(page, 'Added while you were away')
    assert.deepEqual(faults, [])
  })

  test('two windows agree, and a sign-in that ends is told', options, async (t) => {
    const { at } = await busyHub(t)
    const first = await at.open(browser)
    const second = await at.open(browser, { width: 390 })
    await shows(first.page, 'Round the prices once')
    await shows(second.page, 'Round the prices once')
    await first.page.getByRole('button', { name: 'Take care of it' }).first().click()
    await shows(second.page, 'yours')
    await second.page.goto(`${at.url}/#/sign-ins`)
    await second.page.getByRole('button', { name: 'Sign out' }).click()
    await second.page.reload()
    await shows(second.page, 'To sign in, run termaite dashboard')
    await shows(first.page, 'user · admin')
  })

  test('words of agents and of people are text and nothing else', options, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"'\u001b[31m\u202e`
    const agent = await at.agent('evil-1', evil)
    await at.person.add({ prompt: evil, workspace: evil, capabilities: [], needs: [] })
    const given = await agent.wait('evil-1', 5, signal)
    assert.equal(given.type, 'task')
    const ticket = given.type === 'task' ? given.ticket : ''
    await agent.respond(ticket, 'evil-1', { status: 'IN_REVIEW', message: evil, diff: `+++ ${evil}\n+${evil}\n` })
    const { page, outside, faults } = await at.open(browser)
    for (const view of ['inbox', 'agents', 'tasks', `tasks/${ticket.split('.')[0]}`]) {
      await page.goto(`${at.url}/#/${view}`)
      await page.getByText('onerror').first().waitFor()
      assert.deepEqual(
        await page.evaluate('[window.hacked, document.images.length, document.scripts.length]'),
        [undefined, 0, 1],
        view,
      )
    }
    assert.deepEqual([outside, faults], [[], []])
  })

  for (const dark of [false, true])
    test(`axe finds nothing to complain about, ${dark ? 'dark' : 'light'}`, options, async (t) => {
      const { at, review } = await busyHub(t)
      const { page } = await at.open(browser, { dark })
      const views = ['inbox', 'turns', 'agents', 'tasks', `tasks/${review.id}`, 'conversations', 'usage', 'sign-ins']
      const found: unknown[] = []
      await shows(page, 'user · admin')
      for (const view of views) {
        await page.goto(`${at.url}/#/${view}`)
        await page.locator('main h1').waitFor()
        // The page's own policy lets no script of a test in, so it is run by the browser itself.
        await page.evaluate(`${axeSource()}; undefined`)
        const { violations, passes } = (await page.evaluate('axe.run(document)')) as {
          violations: { id: string; nodes: { html: string }[] }[]
          passes: { id: string }[]
        }
        assert.ok(
          passes.some(({ id }) => id === 'color-contrast'),
          'axe has looked',
        )
        found.push(...violations.map(({ id, nodes }) => [view, id, nodes.map(({ html }) => html)]))
      }
      assert.deepEqual(found, [])
    })
})

let axe: string | undefined

function axeSource(): string {
  return (axe ??= readFileSync(axePath, 'utf8'))
}
