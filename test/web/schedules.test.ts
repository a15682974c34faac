import type { Browser } from 'playwright-core'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser, violations } from './browser.ts'

describe('schedules on the page', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test('say when they run next and ran last, and are paused, resumed and removed', { timeout: 60_000 }, async (t) => {
    const at = new PageMachine(t)
    await at.serve()
    const plan = (name: string) =>
      JSON.stringify({ name, schedule: '0 3 1 1 *', zone: 'UTC', tasks: [{ name: 'tests', prompt: `Test ${name}` }] })
    const add = (name: string) =>
      at.person.addPlan({ id: `plan-${name}`, plan: plan(name), file: 'plan.json', workspace: '/shop', zone: 'UTC' })
    await add('nightly')
    const { page, outside, faults } = await at.open(browser)
    await page.locator('.connection.live').waitFor()
    await page.evaluate(`location.hash = '#/tasks'`)
    const schedules = page.locator('.schedules')
    await schedules.locator('summary', { hasText: /^1 schedule, next run .+/ }).click()
    // A schedule that somebody else adds is seen at once.
    await add('<b>weekly</b>')
    await schedules.locator('summary', { hasText: /^2 schedules, next run .+/ }).waitFor()
    const row = (name: string) => schedules.locator('article', { hasText: name })
    const { schedule } = { schedule: (await at.person.schedules()).find(({ name }) => name === 'nightly')! }
    assert.equal(
      await row('nightly').locator('time').first().getAttribute('datetime'),
      new Date(schedule.next!).toISOString(),
    )
    assert.match((await row('nightly').textContent()) ?? '', /No run yet0 3 1 1 \* \(UTC\) · added by user/)

    // A run that was due while the hub was away begins when it is back, and the page leads to its task.
    await at.killHub()
    const ledger = new DatabaseSync(join(at.machine.home, 'hub.db'))
    const due = Date.now() - 3_600_000
    ledger
      .prepare(`UPDATE schedules SET next = ?, schedule = json_set(schedule, '$.next', ?) WHERE id = ?`)
      .run(due, due, schedule.id)
    ledger.close()
    await at.serve()
    await row('nightly').getByText('1 run', { exact: false }).waitFor()
    await row('nightly').getByRole('link').click()
    await page.getByRole('heading', { name: 'Test nightly' }).waitFor()
    await shows(page, 'Run of the schedule nightly.')
    await page.evaluate(`location.hash = '#/tasks'`)
    await schedules.locator('summary').click()

    await row('nightly').getByRole('button', { name: 'Pause' }).click()
    await row('nightly').getByText('paused by user').waitFor()
    await row('nightly').getByRole('button', { name: 'Resume' }).click()
    await row('nightly').getByText('paused by user').waitFor({ state: 'detached' })
    assert.deepEqual(await violations(page), [])

    // A question comes before the removal, because nothing can take that back.
    await row('weekly').getByRole('button', { name: 'Remove …' }).click()
    await row('weekly').getByRole('button', { name: 'Keep it' }).click()
    await row('weekly').getByRole('button', { name: 'Remove …' }).click()
    await shows(page, 'Remove the schedule <b>weekly</b> with its plan? Pipelines that it began go on.')
    await row('weekly').getByRole('button', { name: 'Remove it' }).click()
    await schedules.locator('summary', { hasText: /^1 schedule, next run .+/ }).waitFor()
    await until(async () => (await at.person.schedules()).length === 1)

    const observer = await at.open(browser, { args: ['--read-only'] })
    await observer.page.locator('.connection.live').waitFor()
    await observer.page.evaluate(`location.hash = '#/tasks'`)
    await observer.page.locator('.schedules summary').click()
    await observer.page.locator('.schedules article').waitFor()
    assert.equal(await observer.page.locator('.schedules button').count(), 0)
    assert.deepEqual([outside, faults, observer.faults], [[], [], []])
  })
})
