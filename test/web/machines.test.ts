import type { Browser } from 'playwright-core'
import type { Question } from '../../src/core/talk/question.ts'
import { after, before, describe, test } from 'node:test'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { about, recorder } from '../contract/peer.ts'
import { linkMachine, scriptedMachine } from '../wire/link/link-rig.ts'
import { until } from '../until.ts'
import { PageMachine, noBrowser, shows, startBrowser } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

describe('machines in the page', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser?.close())

  test(
    'turns and terminals of linked machines are shown with the machine’s name, and a machine that is gone is told of',
    { timeout: 60_000 },
    async (t) => {
      const at = new PageMachine(t)
      await at.serve()
      const [build, laptop] = [scriptedMachine(t, 'build-7'), scriptedMachine(t, 'annas-laptop', { onlyReading: true })]
      await build.start('crew-1', { cols: 80, rows: 10 })
      await laptop.start('crew-2', { cols: 80, rows: 10 })
      const key = async (name: string) => (await at.person.operators.addKey(name, 'agent')).secret
      const link = linkMachine(t, build, { url: at.url, key: await key('build-7') })
      linkMachine(t, laptop, { url: at.url, key: await key('anna'), offers: ['turns', 'terminals'] })
      const reach = recorder(['q1'])
      const options = [
        { id: 'pg', label: 'PostgreSQL' },
        { id: 'lite', label: 'SQLite' },
      ]
      const question: Question = { about: 'choice', text: 'Which database?', from: [], options }
      const ask = { type: 'question', ask: 'q1', question, by: 'claude' } as const
      const since = Date.now() - 90_000
      build.running.begin({ ...about, prompt: 'Set the store up', since, project: '/shop' }, reach).see(ask)
      laptop.running
        .begin({ ...about, turn: 't2', prompt: 'Read the manual', since, project: '/docs' }, recorder())
        .see(ask)
      const { page, faults } = await at.open(browser)
      await shows(page, 'user · admin')
      await page.goto(`${at.url}/#/turns`)
      await shows(page, 'Set the store up')
      await shows(page, 'annas-laptop takes no answers from here.')
      await shows(page, 'You can read along. annas-laptop lets nobody steer or cancel its turns from elsewhere.')
      assert.match(
        await page.locator('.machines').innerText(),
        /^3 of 3 machines are online: annas-laptop, build-7, \S+\.$/,
      )
      await page.getByRole('button', { name: 'SQLite' }).click()
      await until(() => reach.wishes.length > 0)
      assert.deepEqual(reach.wishes, [['answer', 'q1', ['lite']]])

      await page.goto(`${at.url}/#/terminals`)
      await shows(page, 'hello from crew-1')
      await page.getByRole('link', { name: 'crew-1' }).click()
      const rows = page.locator('.xterm-rows')
      await until(async () => (await rows.innerText()).includes('hello from crew-1'))
      await page.getByRole('button', { name: 'Take the keys' }).click()
      await until(async () => /You have the keys/.test(await page.locator('article').first().innerText()))
      await page.keyboard.type('x')
      await until(async () => (await rows.innerText()).includes('got "x"'))
      assert.deepEqual(build.typed, ['x'])
      await page.goto(`${at.url}/#/terminals/annas-laptop%2Fcrew-2`)
      await shows(page, 'Read-only: annas-laptop lets nobody type from elsewhere.')
      assert.equal(await page.getByRole('button', { name: 'Take the keys' }).isDisabled(), true)

      await link.end()
      await page.goto(`${at.url}/#/terminals`)
      await until(async () => /^build-7 has been offline since \d/m.test(await page.locator('.machines').innerText()))
      await page.evaluate(`${axe}; undefined`)
      const { violations } = (await page.evaluate('axe.run(document)')) as { violations: { id: string }[] }
      assert.deepEqual(violations, [])
      assert.deepEqual(faults, [])
    },
  )
})
