// Takes pictures of the dashboard at three widths in both themes, from the built hub with scripted agents, and writes the
// README's one. Arguments: the folder for all of them (a temporary one by default), and parts of their names to narrow the run.
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { HubClient } from '../src/hub/client/hub-client.ts'
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PageMachine, startBrowser } from '../test/web/browser.ts'

const shop = '/home/anna/shop'
const { signal } = new AbortController()

const diff = `diff --git a/src/basket.ts b/src/basket.ts
--- a/src/basket.ts
+++ b/src/basket.ts
@@ -8,9 +8,11 @@ export type Item = { price: number; count: number }
 
 /** The price of all items, in cents. */
 export function total(items: readonly Item[]): number {
-  return items.reduce((sum, { price, count }) => sum + round(price * count), 0)
+  const sum = items.reduce((all, { price, count }) => all + price * count, 0)
+  // Rounding each line first was one cent off for three items.
+  return round(sum)
 }
 
 export function discount(items: readonly Item[], percent: number): number {
-  return total(items) * percent / 100
+  return round((total(items) * percent) / 100)
 }
diff --git a/test/basket.test.ts b/test/basket.test.ts
--- a/test/basket.test.ts
+++ b/test/basket.test.ts
@@ -1,3 +1,7 @@
 import { total } from '../src/basket.ts'
 
+test('three items of a third of a euro cost one euro', () => {
+  assert.equal(total(Array.from({ length: 3 }, () => ({ price: 33.333, count: 1 }))), 100)
+})
+
 test('an empty basket costs nothing', () => assert.equal(total([]), 0))
`

/** A morning at the hub: agents at work, questions, a review, failures, and a queue. */
async function morning(at: PageMachine): Promise<{ review: string }> {
  const { person } = at
  const agent = async (id: string, source: 'CLI' | 'IDE', machine: string, workspace = shop) => {
    const { secret } = await person.operators.addKey(id, 'agent')
    const hub = new (person.constructor as typeof HubClient)({ url: at.url, key: secret })
    await hub.register({ id, role: 'developer', name: id, workspace, capabilities: [], source })
    await hub.report(id, { machine })
    return hub
  }
  const claude = await agent('claude-1', 'CLI', 'anna-laptop')
  const codex = await agent('codex-1', 'CLI', 'build-server')
  const gemini = await agent('gemini-1', 'CLI', 'build-server')
  const editor = await agent('zed-anna', 'IDE', 'anna-laptop')
  const given = async (hub: HubClient, id: string, prompt: string, more: object = {}) => {
    await person.add({ prompt, workspace: shop, wish: id, ...more })
    const next = await hub.wait(id, 10, signal)
    if (next.type !== 'task') throw new Error(`${id} was given no task`)
    await hub.tell(next.ticket, 'ack', { agent: id })
    return { ticket: next.ticket, id: next.task.id }
  }
  const done = async (hub: HubClient, id: string, prompt: string, message: string) => {
    const { ticket } = await given(hub, id, prompt)
    await hub.spent(id, { tokens: 20_000 + prompt.length * 700, cost: prompt.length / 100 })
    await hub.respond(ticket, id, { status: 'COMPLETED', message })
  }
  await done(codex, 'codex-1', 'Update the dependencies', 'All of them are current, and the tests pass.')
  await done(
    claude,
    'claude-1',
    'Explain why the build is slow',
    'Type checking runs twice; the second run is not needed.',
  )
  await done(gemini, 'gemini-1', 'Translate the help pages into German', 'Twelve pages are translated.')
  const failed = await given(gemini, 'gemini-1', 'Remove the unused modules')
  await gemini.respond(failed.ticket, 'gemini-1', {
    status: 'FAILED',
    message: 'src/legacy.ts is still used by the export to CSV, so that nothing was removed.',
  })
  const review = await given(
    claude,
    'claude-1',
    'Fix the rounding of prices in the basket\n\nThe sum is one cent off for three items.',
    {
      priority: 5,
    },
  )
  await claude.tell(review.ticket, 'progress', {
    agent: 'claude-1',
    message: 'Found it: each line is rounded before the sum.',
    percentage: 40,
  })
  await claude.spent('claude-1', { tokens: 182_300, cost: 1.24 })
  await claude.respond(review.ticket, 'claude-1', {
    status: 'IN_REVIEW',
    message: 'The sum is rounded once, at the end. A test for three items is added; all 48 tests pass.',
    diff,
  })
  const asking = await given(claude, 'claude-1', 'Publish version 2.4 of the package')
  await claude.ask('claude-1', {
    id: 'q1',
    text: 'Run this command?\n\nnpm publish --dry-run',
    options: [
      { id: 'once', label: 'Yes', means: 'once' },
      { id: 'always', label: 'Yes, and do not ask again for npm publish', means: 'always' },
      { id: 'no', label: 'No', means: 'no' },
    ],
    task: asking.id,
  })
  const blocked = await given(codex, 'codex-1', 'Test the login form in all browsers')
  await codex.tell(blocked.ticket, 'block', {
    agent: 'codex-1',
    reason: 'needs a decision',
    question: 'Safari is not installed here. Should WebKit from Playwright be used instead?',
  })
  const working = await given(codex, 'codex-1', 'Add a dark theme to the settings page')
  await codex.tell(working.ticket, 'progress', {
    agent: 'codex-1',
    message: 'Colours are variables now; two pages are left.',
    percentage: 70,
  })
  await codex.spent('codex-1', { tokens: 96_400, cost: 0.61 })
  const typing = await given(editor, 'zed-anna', 'Write the release notes')
  await editor.tell(typing.ticket, 'progress', { agent: 'zed-anna', message: 'Reading the changelog.', percentage: 10 })
  await gemini.report('gemini-1', {
    machine: 'build-server',
    parkedUntil: Date.now() + 2 * 3_600_000,
    parkedWhy: 'daily quota',
  })
  await person.operators.setMachine('build-server', { labels: ['docker', 'gpu'], limit: 4 })
  await person.operators.pause({ machine: 'anna-laptop' }, { why: 'on a train' })
  for (const [name, schedule] of [
    ['nightly', '30 2 * * *'],
    ['weekly report', '0 9 * * 1'],
  ] as const)
    await person.addPlan({
      id: `plan-${name.replace(' ', '-')}`,
      plan: JSON.stringify({ name, schedule, zone: 'UTC', tasks: [{ name: 'tests', prompt: 'Run the tests' }] }),
      ...{ file: 'plan.json', workspace: shop, zone: 'UTC' },
    })
  for (const [prompt, priority] of [
    ['Speed up the search for products', 3],
    ['Show the delivery date on the receipt', 0],
    ['Replace the deprecated mail library', 0],
    ['Document the webhooks', -2],
  ] as const)
    await person.add({ prompt, workspace: shop, priority, wish: 'claude-1' })
  return { review: review.id }
}

const [folder = mkdtempSync(join(tmpdir(), 'termaite-pictures-')), ...wanted] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const ends: (() => unknown)[] = []
const at = new PageMachine({ after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext)
const browser = await startBrowser()
try {
  await at.serve()
  const { review } = await morning(at)
  const views: Record<string, string> = {
    inbox: 'inbox',
    agents: 'agents',
    machines: 'agents',
    agent: 'agents/claude-1',
    board: 'tasks',
    schedules: 'tasks',
    list: 'tasks?view=list',
    review: `tasks/${review}`,
    turns: 'turns',
    conversations: 'conversations',
    usage: 'usage',
    'sign-ins': 'sign-ins',
  }
  // The parts that are folded until a person opens them, and the button that opens a form in them.
  const unfolded: Record<string, [string, string]> = {
    machines: ['.fleet > summary', '.fleet li:nth-child(2) button:has-text("Labels and limit")'],
    schedules: ['.schedules > summary', '.schedules li:nth-child(2) button:has-text("Remove")'],
  }
  for (const dark of [false, true])
    for (const width of [390, 1280, 2560]) {
      const { page } = await at.open(browser, { dark, width })
      await page.locator('.connection.live').waitFor()
      for (const [name, view] of Object.entries(views)) {
        const file = `${name}-${width}-${dark ? 'dark' : 'light'}.png`
        if (wanted.length > 0 && !wanted.some((part) => file.includes(part))) continue
        await taken(page, view, join(folder, file), unfolded[name])
        console.log(join(folder, file))
      }
      await page.context().close()
    }
  if (wanted.length === 0)
    copyFileSync(join(folder, 'inbox-1280-light.png'), join(import.meta.dirname, '..', 'docs', 'dashboard.png'))
} finally {
  await browser.close()
  for (const end of ends.toReversed()) await end()
}

async function taken(page: Page, view: string, path: string, clicks: readonly string[] = []): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}; scrollTo(0, 0)`)
  await page.locator('main h1').first().waitFor()
  for (const place of clicks) await page.locator(place).click()
  // A view is drawn with the data of the hub once no request is under way any more.
  await page.waitForTimeout(400)
  await page.screenshot({ path })
}
