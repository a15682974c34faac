import type { TestContext } from 'node:test'
import type { Browser } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser, violations } from './browser.ts'

const options = { timeout: 60_000 }

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
      { id: 'yes', label: 'Yes, once', means: 'once' },
      { id: 'no', label: 'No', means: 'no' },
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
    const { page, outside, faults } = await at.open(browser, { ownClock: true })
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
    await shows(page, 'round(sum)')
    await page.getByRole('textbox', { name: 'Comment' }).focus()
    await page.keyboard.type('Good.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shows(page, 'The comment is added.')
    await page.getByRole('button', { name: 'Approve' }).focus()
    await page.keyboard.press('Enter')
    await page.clock.runFor(10_000)
    const approved = await until(async () => {
      const task = await person.task(review.id)
      return task.state === 'APPROVED' && task
    })
    assert.deepEqual(
      approved.notes.filter(({ kind }) => kind === 'comment').map(({ by, text }) => [by, text]),
      [['user', 'Good.']],
    )
    await page.goto(`${at.url}/#/tasks`)
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
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
    await page.getByLabel('Priority', { exact: true }).fill('2')
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
    await page.getByRole('button', { name: 'Sooner', exact: true }).click()
    await seen('first 3  QUEUED rust\nsecond 1  QUEUED')
    await marked('second')
    await page.getByLabel('Give the marked tasks to').selectOption('other-1')
    await seen('first 3  QUEUED rust\nsecond 1 other-1 QUEUED')
    await marked('first', 'second')
    await page.getByRole('button', { name: 'Cancel (2)' }).click()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await marked('first', 'second')
    await page.getByRole('button', { name: 'Cancel (2)' }).click()
    // A page that is left sends what it held back.
    await page.reload()
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

  test(
    'a connection that is silent, as after the sleep of a laptop, is made anew and misses nothing',
    options,
    async (t) => {
      const { at } = await busyHub(t)
      const { page, faults } = await at.open(browser, { ownClock: true })
      await shows(page, 'user · admin')
      // The hub stands still: its connections are open and silent.
      process.kill(at.pid, 'SIGSTOP')
      await page.clock.fastForward(60_000)
      await shows(page, 'The hub cannot be reached.')
      process.kill(at.pid, 'SIGCONT')
      await at.person.add({ prompt: 'Added while you slept', workspace: '/shop', capabilities: [], needs: [] })
      await page.goto(`${at.url}/#/tasks`)
      await page.clock.fastForward(60_000)
      await shows(page, 'Added while you slept')
      assert.deepEqual(faults, [])
    },
  )

  test('items are put off, put away and swiped with a way back, and say who answered them', options, async (t) => {
    const { at, person, claude } = await busyHub(t)
    const { page, faults } = await at.open(browser, { width: 390 })
    const item = (words: string) => page.locator('article.item', { hasText: words })
    await item('Round the prices once').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('s')
    await page.locator('button:focus', { hasText: 'for an hour' }).waitFor()
    await page.keyboard.press('Enter')
    await item('Round the prices once').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await page.keyboard.press('u')
    await item('Round the prices once').waitFor()
    await item('Round the prices once').getByRole('link').first().focus()
    await page.keyboard.press('e')
    await item('Round the prices once').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await item('Round the prices once').waitFor()
    // A finger that swipes far enough says yes, and has some seconds to take that back.
    const box = (await item('Run npm publish?').boundingBox())!
    const finger = await page.context().newCDPSession(page)
    const touch = (type: string, x?: number) =>
      finger.send('Input.dispatchTouchEvent', {
        type: type as 'touchStart',
        touchPoints: x === undefined ? [] : [{ x, y: box.y + 10 }],
      })
    await touch('touchStart', 60)
    for (const x of [80, 120, 180, 240]) await touch('touchMove', x)
    await touch('touchEnd')
    await shows(page, 'claude-1 asks: Yes')
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await item('Run npm publish?').locator(':not(.held)').first().waitFor()
    assert.equal((await person.agent('claude-1')).answered, undefined)
    await claude.withdraw('claude-1')
    await shows(page, 'Answered at the terminal of the agent, or withdrawn.')
    assert.deepEqual(faults, [])
  })

  test('an agent opens to its details, is written to and stopped, and a lost hub is told', options, async (t) => {
    const { at, person, claude } = await busyHub(t)
    await claude.report('claude-1', { machine: 'box', contextLeft: 0.4 })
    const { page, faults } = await at.open(browser)
    await page.goto(`${at.url}/#/agents`)
    await page.getByRole('link', { name: 'claude-1' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.locator('dd', { hasText: '40 %' }).waitFor()
    assert.equal(await page.evaluate('document.activeElement.id'), 'main', 'the keyboard begins at the new view')
    await page.keyboard.press('w')
    await page.locator('form input:focus').waitFor()
    await page.keyboard.type('Pull first.')
    await page.keyboard.press('Enter')
    await shows(page, 'Message to claude-1: Pull first.')
    const stopped = (await person.agent('claude-1')).task!
    await page.getByRole('button', { name: 'Stop its work' }).click()
    await until(async () => (await person.task(stopped)).state === 'CANCELLED')
    // The message has an Undo too, which is the last one until the page knows that the agent is stopped.
    await shows(page, 'Stopped claude-1')
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await until(async () => (await person.task(stopped)).state === 'QUEUED')
    // A page that is left sends the message that it held back.
    await page.reload()
    await until(async () => (await person.agent('claude-1')).inbox.length === 1)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await shows(page, 'user · admin')
    await at.killHub()
    await shows(page, 'may be outdated')
    assert.deepEqual(faults, [])
  })

  test('two windows agree, and a sign-in that ends is told', options, async (t) => {
    const { at } = await busyHub(t)
    const first = await at.open(browser)
    const second = await at.open(browser, { width: 390 })
    await shows(first.page, 'Round the prices once')
    await shows(second.page, 'Round the prices once')
    await first.page.getByRole('button', { name: 'Assign it to me' }).first().click()
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

  test(
    'a running turn is read as it is spoken, over a killed hub, and everything in it is text',
    options,
    async (t) => {
      const at = new PageMachine(t)
      const go = join(at.machine.folder, 'go')
      const evil = '# Title <img src=x onerror="window.hacked=1">\n\n[go](javascript:alert(1)) \u202ebidi \u001b[31mred'
      at.machine.agents({
        quick: 'cat >/dev/null; echo fine',
        slow: `cat >/dev/null; cat ${go}.evil; echo "the first words"; while [ ! -e ${go} ]; do sleep 0.05; done; echo "the last words"`,
      })
      writeFileSync(`${go}.evil`, `${evil}\n\n`)
      await at.machine.run(['-p', 'Begin <b>here</b>', '-a', 'quick'])
      const { session } = at.machine.history()[0]!
      await at.serve()
      const { page, outside, faults } = await at.open(browser)
      await shows(page, 'user · admin')
      await page.goto(`${at.url}/#/conversations/${session}`)
      await shows(page, 'Begin <b>here</b>')
      const running = at.machine.start(['-p', 'Say it', '-a', 'slow'])
      running.stdin!.end()
      const over = once(running, 'exit')
      await shows(page, 'the first words')
      await shows(page, 'is speaking')
      await at.killHub()
      await shows(page, 'Trying again')
      writeFileSync(go, '')
      await over
      await at.serve()
      await shows(page, 'the last words')
      const counts = () =>
        page.evaluate(
          `['the first words', 'the last words', 'is speaking'].map((words) => document.querySelector('main').innerText.split(words).length - 1)`,
        ) as Promise<number[]>
      await until(async () => (await counts()).join() === '1,1,0')
      assert.deepEqual(
        await page.evaluate(
          `[window.hacked, document.images.length, document.scripts.length, document.querySelectorAll('main .messages a').length]`,
        ),
        [undefined, 0, 1, 0],
      )
      await shows(page, '⟨U+202E⟩bidi red')
      assert.deepEqual(await violations(page), [])
      // A search leads to the place where the words stand.
      await page.goto(`${at.url}/#/conversations?q=last`)
      await page.getByRole('link', { name: 'the last words' }).click()
      await page.locator('.target').waitFor()
      await page.goto(`${at.url}/#/usage?by=day&range=7`)
      await page.locator('.chart svg').waitFor()
      assert.deepEqual(await violations(page), [])
      assert.deepEqual([outside, faults], [[], []])
    },
  )

  for (const dark of [false, true])
    test(`axe finds nothing to complain about, ${dark ? 'dark on a phone' : 'light'}`, options, async (t) => {
      const { at, review } = await busyHub(t)
      const { page } = await at.open(browser, { dark, width: dark ? 390 : 1280 })
      const lists = ['inbox?show=all', 'turns', 'agents', 'agents/claude-1', 'tasks', 'tasks?view=list']
      const views = [...lists, `tasks/${review.id}`, 'conversations', 'usage', 'sign-ins']
      const found: unknown[] = []
      await shows(page, 'user · admin')
      for (const view of views) {
        await page.goto(`${at.url}/#/${view}`)
        await page.locator('main h1').waitFor()
        found.push(...(await violations(page)).map((each) => [view, ...each]))
      }
      assert.deepEqual(found, [])
    })
})
