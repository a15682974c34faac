import type { Browser } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser, violations } from './browser.ts'

describe('orders of an operator on the page', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test(
    'agents, machines and the hub are paused and resumed, and tasks say why they wait',
    { timeout: 60_000 },
    async (t) => {
      const at = new PageMachine(t)
      await at.serve()
      const { person } = at
      for (const [name, machine] of [
        ['claude-1', 'build-7'],
        ['codex-1', 'build-7'],
      ] as const)
        await (await at.agent(name)).report(name, { machine })
      await person.operators.setMachine('build-7', { labels: ['docker', 'gpu'], limit: 4 })
      const { id } = await person.add({ prompt: 'Train the model', workspace: '/shop', capabilities: ['gpu'] })
      const { page, outside, faults } = await at.open(browser)
      await page.locator('.connection.live').waitFor()
      const pictures = process.env.PICTURES
      const picture = async (name: string) => {
        if (pictures !== undefined) await page.screenshot({ path: `${pictures}/${name}.png` })
      }

      // By the keyboard: the reason is asked for, and is shown beside the agent.
      await page.evaluate(`location.hash = '#/agents/claude-1'`)
      await page.getByRole('heading', { name: 'claude-1' }).waitFor()
      await page.keyboard.press('p')
      await page.getByLabel('Why is claude-1 paused?').fill('too <b>dear</b>')
      await page.keyboard.press('Enter')
      await shows(page, 'no: it is paused by user (too <b>dear</b>)')
      assert.equal((await person.agent('claude-1')).paused?.why, 'too <b>dear</b>')
      await picture('agent')

      await page.evaluate(`location.hash = '#/agents'`)
      await page.getByText('2 machines', { exact: true }).click()
      const machine = page.locator('.fleet li').filter({ hasText: 'build-7' })
      assert.match((await machine.textContent()) ?? '', /build-7.*0 of at most 4 tasks · labels docker, gpu/)
      await machine.getByRole('button', { name: 'Drain …' }).click()
      await machine.getByLabel('Why is build-7 paused?').fill('new disk')
      await machine.getByRole('button', { name: 'Drain build-7' }).click()
      await machine.getByText('drained by user (new disk)').waitFor()
      await shows(page, 'paused: its machine is drained by user (new disk)')
      await picture('machines')
      assert.deepEqual(await violations(page), [])

      // Labels and the limit, in the words of the command, with a way back.
      const rules = async () => {
        const { labels, limit } = (await person.operators.rules()).find((one) => one.machine === 'build-7')!
        return [labels, limit]
      }
      await machine.getByRole('button', { name: 'Labels and limit …' }).click()
      assert.equal(await page.locator('input:focus').inputValue(), 'docker, gpu')
      await page.keyboard.type(', <b>')
      await machine.getByLabel('Limit: the most tasks that its agents have at once').fill('many')
      await page.keyboard.press('Enter')
      await shows(page, 'The limit of build-7: found "many", allowed: a whole number from 1 on, or none.')
      await machine.getByLabel('Limit: the most tasks').fill('1')
      await page.keyboard.press('Enter')
      await shows(page, 'build-7: labels docker, gpu, <b>, at most 1 task at once.')
      await machine.getByText('0 of at most 1 tasks · labels docker, gpu, <b>').waitFor()
      assert.deepEqual(await rules(), [['docker', 'gpu', '<b>'], 1])
      await page.getByRole('button', { name: 'Undo' }).click()
      await machine.getByText('0 of at most 4 tasks · labels docker, gpu').waitFor()
      assert.deepEqual(await rules(), [['docker', 'gpu'], 4])
      await machine.getByRole('button', { name: 'Labels and limit …' }).click()
      await machine.getByLabel('Labels: words that count').fill('')
      await machine.getByLabel('Limit: the most tasks').fill('none')
      await picture('rules')
      assert.deepEqual(await violations(page), [])
      await machine.getByRole('button', { name: 'Set', exact: true }).click()
      await shows(page, 'build-7: no labels, no limit of tasks.')
      assert.deepEqual(await rules(), [undefined, undefined])
      await person.operators.setMachine('build-7', { labels: ['gpu'] })
      await page.evaluate(`location.hash = '#/tasks/${id}'`)
      await shows(page, '2 know the workspace, both are on build-7, which is drained by user (new disk)')

      // An order of somebody else is seen at once, on every view.
      await person.operators.pause({ hub: true }, { why: 'release' })
      await shows(page, 'The hub is paused by user (release): nothing new is given out.')
      await picture('hub')
      await page.getByRole('button', { name: 'Resume the hub' }).click()
      await until(
        async () => !(await person.operators.rules()).some(({ machine: name, pause }) => name === '*' && pause),
      )
      await page.evaluate(`location.hash = '#/agents'`)
      await page.getByText('2 machines, 1 paused', { exact: true }).click()
      await machine.getByRole('button', { name: 'Resume' }).click()
      await until(async () => (await person.operators.rules()).every(({ pause }) => !pause))

      // An observer sees the orders, and has no buttons for them.
      const observer = await at.open(browser, { args: ['--read-only'] })
      await observer.page.locator('.connection.live').waitFor()
      await observer.page.evaluate(`location.hash = '#/agents'`)
      await shows(observer.page, 'paused by user (too <b>dear</b>)')
      await observer.page.getByText('2 machines', { exact: true }).click()
      await shows(observer.page, 'labels gpu')
      assert.equal(await observer.page.getByRole('button', { name: /Pause|Drain|Resume|Labels/ }).count(), 0)
      assert.deepEqual([outside, faults, observer.faults], [[], [], []])
    },
  )

  test('tasks that retention removes leave every view, and an open one says why', { timeout: 60_000 }, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const claude = await at.agent('claude-1')
    const { person } = at
    const { signal } = new AbortController()
    const failed = async (prompt: string) => {
      await person.add({ prompt, workspace: '/shop' })
      const given = await claude.wait('claude-1', 5, signal)
      assert.equal(given.type, 'task')
      if (given.type !== 'task') throw new Error('no task')
      await claude.respond(given.ticket, 'claude-1', { status: 'FAILED', message: 'It cannot be done.' })
      return given.task.id
    }
    const first = await failed('Remove the old modules')
    await failed('Update the licence')
    await person.add({ prompt: 'Stays in the queue', workspace: '/elsewhere' })
    const added = await person.addPlan({
      id: 'plan-release',
      plan: JSON.stringify({ name: 'release', tasks: [{ name: 'notes', prompt: 'Write the notes' }] }),
      ...{ file: 'plan.json', workspace: '/elsewhere', zone: 'UTC' },
    })
    await person.tellPipeline(added.pipeline!.id, 'cancel')
    const opened = await at.open(browser)
    const board = await at.open(browser)
    const item = opened.page.locator('article.item', { hasText: 'Update the licence' })
    await item.waitFor()
    await opened.page.evaluate(`location.hash = '#/tasks/${first}'`)
    await opened.page.getByRole('heading', { name: 'Remove the old modules' }).waitFor()
    await board.page.locator('.connection.live').waitFor()
    await board.page.evaluate(`location.hash = '#/tasks'`)
    await board.page.getByRole('button', { name: 'Mark Update the licence' }).click()
    await board.page.getByRole('group', { name: '1 marked tasks' }).waitFor()
    const count = (page: typeof board.page) => page.locator('nav a', { hasText: 'Tasks' }).locator('.count')
    assert.equal(await count(board.page).textContent(), '4')

    assert.deepEqual(await person.operators.prune(0), { tasks: 3, pipelines: 1, more: false })
    await shows(opened.page, `Task ${first} was FAILED and was removed, as the hub's operator has set.`)
    await board.page.getByText('Update the licence').waitFor({ state: 'detached' })
    assert.deepEqual(await board.page.locator('.task-card strong').allTextContents(), ['Stays in the queue'])
    assert.equal(await board.page.locator('.selection').count(), 0)
    // Both windows count what is left, and an inbox without the failures is empty.
    for (const { page } of [board, opened]) assert.equal(await count(page).textContent(), '1')
    await opened.page.evaluate(`location.hash = '#/inbox'`)
    await shows(opened.page, 'Nothing waits for you.')
    // A page that is read anew shows the same.
    await board.page.reload()
    await board.page.getByText('Stays in the queue').waitFor()
    assert.equal(await count(board.page).textContent(), '1')
    assert.deepEqual([opened.faults, board.faults], [[], []])
  })
})
