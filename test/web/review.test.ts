import type { TestContext } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { branchOf } from '../../src/worktrees/task-branches.ts'
import { fullOnly } from '../full.ts'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser, violations } from './browser.ts'

const options = { timeout: 60_000 }
const { signal } = new AbortController()

/** The diff of a file whose second line is the given one, and of a second file that no try changes again. */
const diffWith = (line: string) => `diff --git a/src/sum.ts b/src/sum.ts
index 1111111..2222222 100644
--- a/src/sum.ts
+++ b/src/sum.ts
@@ -1,3 +1,3 @@
 function sum(items) {
-  return all(items, (price) => round(price))
+  ${line}
 }
diff --git a/README.md b/README.md
index 3333333..4444444 100644
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 # Shop
+Prices are rounded once.
`

/** A hub with an agent that answers its tasks. */
async function hubWithAgent(t: TestContext, workspace = '/shop') {
  const at = new PageMachine(t)
  await at.serve()
  const agent = await at.agent('claude-1', workspace)
  const take = async () => {
    const given = await agent.wait('claude-1', 5, signal)
    assert.equal(given.type, 'task')
    const ticket = given.type === 'task' ? given.ticket : ''
    await agent.tell(ticket, 'ack', { agent: 'claude-1' })
    return ticket
  }
  const answer = async (result: { diff: string; [name: string]: unknown }) => {
    const ticket = await take()
    const { diff: text, ...rest } = result
    const diff = { id: (await agent.sendText(ticket, text)).id }
    await agent.tell(ticket, 'respond', { agent: 'claude-1', status: 'IN_REVIEW', message: 'Done.', diff, ...rest })
  }
  const { id } = await at.person.add({ prompt: 'Round once', workspace, capabilities: [], needs: [] })
  return { at, id, answer, person: at.person }
}

const focused = (page: Page) => page.evaluate('document.activeElement.textContent') as Promise<string>

/** The texts of the lines that are drawn, with their signs. */
const drawnLines = (page: Page) => page.locator('.diff-lines .code:is(.added, .removed)').allTextContents()

describe('the review in a browser', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test(
    'comment, send back, look at what changed since, approve and merge, by the keyboard alone',
    options,
    async (t) => {
      const shop = mkdtempSync(join(tmpdir(), 'shop-'))
      t.after(() => rmSync(shop, { recursive: true, force: true }))
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', shop, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
          encoding: 'utf8',
        }).trim()
      git('init', '-qb', 'main')
      git('commit', '-qm', 'the shop', '--allow-empty')
      const { at, id, answer, person } = await hubWithAgent(t, shop)
      const branch = branchOf(id)
      git('branch', branch)
      const checks = [
        { command: 'npm test', exit: 0, ms: 1_200, output: '\u001b[32mall pass\u001b[0m\n' },
        { command: 'npm run lint', exit: 1, ms: 300, output: '<b>one problem</b>\n' },
      ]
      const place = { machine: hostname(), branch }
      await answer({ diff: diffWith('return round(all(items))'), evidence: checks, place })
      const { page, outside, faults } = await at.open(browser, { ownClock: true })
      await shows(page, 'Round once')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await shows(page, '1 check passed, 1 failed.')
      await shows(page, '<b>one problem</b>')
      await page.locator('.diff-lines .code').first().waitFor()
      await page.keyboard.press('n')
      assert.match(await focused(page), /removed: −\s+return all/)
      await page.keyboard.press('ArrowDown')
      assert.match(await focused(page), /added: \+\s+return round/)
      await page.keyboard.press('c')
      await page.getByRole('textbox', { name: 'Comment on src/sum.ts:2' }).waitFor()
      await page.keyboard.type('Round half up.')
      await page.keyboard.press('Control+Enter')
      await page.locator('.talk .comment').getByText('Round half up.').waitFor()
      await page.keyboard.press('r')
      await page.keyboard.type('Nearly.')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      assert.match(await focused(page), /Send back with the comment on lines/)
      await page.keyboard.press('Enter')
      await page.clock.runFor(10_000)
      const back = await until(async () => {
        const task = await person.task(id)
        return task.state === 'QUEUED' && task
      })
      assert.deepEqual(
        back.notes.filter(({ kind }) => kind === 'comment').map(({ text, place: line }) => [text, line]),
        [
          ['Round half up.', { try: 1, path: 'src/sum.ts', line: 2, side: 'new', text: '  return round(all(items))' }],
          ['Nearly.', undefined],
        ],
      )
      git('checkout', '-q', branch)
      git('commit', '-qm', 'round half up', '--allow-empty')
      git('checkout', '-q', 'main')
      await answer({
        diff: diffWith('return roundHalfUp(all(items))'),
        place: { ...place, commit: git('rev-parse', branch) },
      })
      const shown = page.locator('.changes select option:checked')
      await until(async () => (await shown.allTextContents())[0] === 'since my last look (try 1 → 2)')
      await shows(page, 'No evidence: nobody ran a check of this try.')
      await until(async () => (await drawnLines(page)).length === 2)
      assert.deepEqual(await drawnLines(page), [
        'removed: −  return round(all(items))',
        'added: +  return roundHalfUp(all(items))',
      ])
      await shows(page, 'on try 1, an older one')
      // A reload, or a link to somebody else, shows the same.
      assert.equal(new URL(page.url()).hash, `#/tasks/${id}?since=1`)
      await page.keyboard.press('s')
      await until(async () => (await drawnLines(page)).length === 3)
      assert.equal(new URL(page.url()).hash, `#/tasks/${id}?since=all`)
      await page.keyboard.press('a')
      assert.match(await focused(page), /^Approve a/)
      await page.keyboard.press('Tab')
      assert.equal(await focused(page), `Approve and merge ${branch} on ${hostname()}`)
      await page.keyboard.press('Enter')
      await page.clock.runFor(10_000)
      await shows(page, `${branch} was merged into main on ${hostname()}`)
      const done = await person.task(id)
      const commit = git('rev-parse', 'main')
      assert.match(git('log', '--format=%s', 'main'), /^round half up$/m)
      assert.deepEqual(
        [done.state, ...done.tries!.map(({ reviews = [] }) => reviews.map(({ at: _, ...review }) => review))],
        [
          'APPROVED',
          [{ by: 'user', verdict: 'rejected', text: 'Nearly.' }],
          [{ by: 'user', verdict: 'approved', merged: { machine: hostname(), branch, into: 'main', commit } }],
        ],
      )
      assert.deepEqual([outside, faults], [[], []])
    },
  )

  test('an older try cannot be approved, and the page leads to the newest', options, async (t) => {
    const { at, id, answer, person } = await hubWithAgent(t)
    await answer({ diff: diffWith('one') })
    await person.tell(id, 'reject', { try: 1, text: 'Again.' })
    await answer({ diff: diffWith('two') })
    const { page } = await at.open(browser, { ownClock: true })
    await shows(page, 'Round once')
    await page.goto(`${at.url}/#/tasks/${id}?try=1`)
    await shows(page, 'Your verdict on try 1')
    await page.getByRole('button', { name: 'Approve a', exact: true }).click()
    await page.clock.runFor(10_000)
    await shows(page, 'you have looked at try 1, and try 2 is the newest')
    await page.getByRole('link', { name: 'Look at try 2' }).click()
    await shows(page, 'Your verdict on try 2')
    assert.equal((await person.task(id)).state, 'IN_REVIEW')
  })

  test('hostile diffs are inert text, and axe finds nothing', options, async (t) => {
    const { at, id, answer } = await hubWithAgent(t)
    const evil = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`
    const lines = [
      `+${evil}`,
      '+if (admin\u202e \u2066// check\u2069) {',
      '+\u001b]0;title\u0007',
      `+${'x'.repeat(5_000_000)}`,
    ]
    await answer({
      message: `${evil}\u202e`,
      artifacts: ['https://example.com/', '#/agents', { html: evil }, 'javascript:window.hacked=1'],
      diff: [
        `diff --git a/${evil} b/${evil}`,
        `--- a/${evil}`,
        `+++ b/\u202e${'long'.repeat(3_000)}`,
        '@@ -0,0 +1,4 @@',
        ...lines,
        'diff --git a/torn b/torn',
        '@@ -1,100 +1,100 @@',
        '-only one line',
        'diff --cc merge',
        '@@@ -1,1 -1,1 +1,1 @@@',
        '++both',
      ].join('\n'),
      evidence: [
        { command: evil, exit: 1, ms: 1, output: `${evil}\r\n\u001b[31mred \u202e\u001b]8;;javascript:x\u0007link\n` },
      ],
    })
    const { page, outside, faults } = await at.open(browser, { dark: true })
    await shows(page, 'Round once')
    await page.goto(`${at.url}/#/tasks/${id}`)
    await page.locator('.diff-lines').getByText('onerror').first().waitFor()
    const counts =
      '[window.hacked, document.images.length, document.scripts.length, document.querySelectorAll("main a[href^=http], main a[href^=javascript]").length]'
    assert.deepEqual(await page.evaluate(counts), [undefined, 0, 1, 0])
    await shows(page, 'Added lines have 3 hidden characters')
    assert.deepEqual(await page.locator('.diff-lines .unseen').allTextContents(), [
      ...['U+202E', 'U+202E', 'U+2066', 'U+2069', 'ESC', 'BEL'],
    ])
    // A person who looks at the page reads the code.
    assert.ok((await page.locator('.diff-lines .unseen').first().boundingBox())!.width > 20)
    const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    assert.equal(await page.evaluate(width), 0, 'nothing is wider than the page')
    await page.getByRole('button', { name: 'more in this line' }).click()
    assert.equal(await page.evaluate(width), 0)
    assert.deepEqual(await violations(page), [])
    assert.deepEqual([outside, faults], [[], []])
  })

  test(
    'a diff of 50 MB opens, is searched and scrolled to its end without freezing',
    { timeout: 300_000, skip: fullOnly },
    async (t) => {
      const { at, id, answer } = await hubWithAgent(t)
      await answer({ diff: largeDiff(50_000_000) })
      const { page, faults } = await at.open(browser)
      await shows(page, 'Round once')
      const before = await rendererMb(browser)
      await page.evaluate(`{
      window.tasks = []
      new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) window.tasks.push(duration) }).observe({ type: 'longtask' })
    }`)
      const began = performance.now()
      const took = () => `${Math.round(performance.now() - began)} ms`
      await page.evaluate(`location.hash = '#/tasks/${id}'`)
      await page.locator('.diff-lines .code').first().waitFor()
      t.diagnostic(`first lines after ${took()}`)
      await until(async () => !(await page.getByText('Reading the changes').count()))
      t.diagnostic(`whole after ${took()}, ${await page.locator('.diff-files p').textContent()}`)
      await page.getByRole('searchbox', { name: 'Find in the changes' }).fill('needle in the last file')
      await page.getByText('1 line', { exact: true }).waitFor({ timeout: 120_000 })
      t.diagnostic(`searched after ${took()}`)
      await page.keyboard.press('Enter')
      await page.locator('.diff-lines mark').waitFor()
      t.diagnostic(`at the place that was found after ${took()}`)
      // The large file in the middle is closed; opened, its last line is reached by the scroll bar.
      await page.evaluate(`location.hash = '#/tasks/${id}?file=large.txt'`)
      await page.locator('.file-head button[aria-expanded=false]', { hasText: 'large.txt' }).click()
      await page.evaluate(`document.querySelector('.diff-lines').scrollTop = 4_000_000`)
      await page.locator('.diff-lines').getByText('+ "large.txt"').first().waitFor()
      await page.evaluate(`document.querySelector('.diff-lines').scrollTop = 8_000_000`)
      await page.locator('.diff-lines').getByText('needle in the last file').waitFor()
      const longest = (await page.evaluate('Math.max(0, ...window.tasks)')) as number
      const rows = await page.locator('.diff-lines [role=row]').count()
      assert.ok(rows < 300, `${rows} rows are drawn`)
      t.diagnostic(
        `longest work of the page ${Math.round(longest)} ms; renderer ${before} MB before, ${await rendererMb(browser)} MB after; ${rows} rows drawn`,
      )
      assert.deepEqual(faults, [])
    },
  )
})

/** A diff of about this many bytes: many files of some hundred lines, and one with half of all lines. */
function largeDiff(bytes: number): string {
  const parts: string[] = []
  const file = (name: string, lines: number, last = '') => {
    parts.push(`diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -0,0 +1,${lines} @@\n`)
    const body: string[] = []
    for (let at = 1; at < lines; at++) body.push(`+  const value${at} = compute(${at}) + "${name}"\n`)
    parts.push(body.join(''), `+${last}\n`)
  }
  const perLine = 50
  const small = Math.floor(bytes / 2 / perLine / 500)
  for (let at = 0; at < small; at++) {
    if (at === Math.floor(small / 2)) file('large.txt', Math.floor(bytes / 2 / perLine))
    file(`file${at}.ts`, 500)
  }
  file('last.ts', 3, 'needle in the last file')
  return parts.join('')
}

/** The memory of the largest renderer of a browser. */
async function rendererMb(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0))
  return Math.round(Math.max(...sizes) / 1024)
}
