import type { Script } from './model-server.ts'
import type { Page } from 'playwright-core'
import { test } from 'node:test'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../until.ts'
import { noBrowser, openWindow, shows, startBrowser, violations } from '../web/browser.ts'
import { agentRig } from './agent-rig.ts'
import { skipped } from './turns.ts'

const noTmux = spawnSync('tmux', ['-V']).status === 0 ? false : 'tmux is not installed'

/** Claude Code with its own first questions answered, so that the one about the command is the only one. */
const answered = (folder: string) => ({
  '.claude.json': JSON.stringify({
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: ['made-up'], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true } },
  }),
  // The project's own check may run without a question.
  '.termaite/settings.json': JSON.stringify({
    permissions: { allow: ['Bash(npm test)'] },
  }),
})

const prompt = 'Write a greeting into greeting.txt.'
const complaint = 'The word is spelled "world".'

/** A model that writes a misspelled greeting, and the right one when it is told. */
const writer: Script = ({ body }) => {
  const said = JSON.stringify(body.messages)
  if (!said.includes(prompt)) return { text: 'ready' }
  const word = said.includes('is spelled') ? 'world' : 'wrld'
  const command = `echo "hello ${word}" > greeting.txt && echo wrote-${word}`
  const results = said.replaceAll(/echo wrote-\w+/g, '')
  return results.includes(`wrote-${word}`)
    ? { text: `The greeting says hello ${word}.` }
    : { call: { tool: 'Bash', input: { command } } }
}

/** An editor that works for the hub over MCP. */
async function editor(url: string, key: string, workspace: string) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'editor', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  const me = { agentId: 'editor-1', role: 'developer', displayName: 'Anna’s editor', source: 'IDE' }
  const registered = await client.callTool({
    name: 'register_agent',
    arguments: { ...me, capabilities: [], workspaceContext: workspace },
  })
  assert.equal(registered.isError, undefined, JSON.stringify(registered))
  return client
}

test(
  'a task in the page, from its first word to the merge: a real Claude Code in tmux, a killed hub and a page that sleeps',
  { skip: noBrowser || noTmux || skipped('claude'), timeout: 180_000 },
  async (t) => {
    // The project's own check fails for the first try and passes for the second.
    const check = JSON.stringify({ scripts: { test: 'grep -q world greeting.txt' } })
    const rig = await agentRig(t, 'claude', answered, writer, { 'package.json': check })
    const { url, hub } = rig
    const browser = await startBrowser()
    t.after(() => browser.close())
    const { out, err } = await rig.run('dashboard')
    assert.match(out, /#in=/, err)
    const { page, outside, faults } = await openWindow(t, browser, out.trim())
    const look = async (view: string) => {
      await page.evaluate(`location.hash = '#/${view}'`)
      await page.locator('main h1').first().waitFor()
    }
    const complaints: unknown[] = []
    /** Lets axe look at the screen that is shown. */
    const checked = async (screen: string) =>
      complaints.push(...(await violations(page)).map((each) => [screen, ...each]))
    await shows(page, 'user · admin')
    await checked('empty inbox')

    // A CLI agent and an IDE agent come.
    const { agent, lines } = rig.start('ask', '--tmux')
    const key = (await hub.operators.addKey('editor-1', 'agent')).secret
    const client = await editor(url, key, '/home/anna/other')
    t.after(() => client.close())
    await look('agents')
    await shows(page, 'Anna’s editor')
    for (const badge of ['CLI', 'IDE']) await page.locator('.badge', { hasText: badge }).first().waitFor()
    await checked('agents')

    // A task is added in the page.
    await look('tasks')
    await page.getByLabel('What is to be done').fill(prompt)
    await page.getByLabel('Workspace').fill(rig.cwd)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('link', { name: prompt }).waitFor()
    await checked('tasks')

    // The CLI runs in a live terminal of the page, which shows its permission dialog.
    const id = await until(async () => (await hub.tasks())[0]?.id)
    const claude = await until(async () => (await hub.task(id)).agent)
    await look(`agents/${claude}`)
    const screen = page.locator('.xterm-rows')
    await until(async () => (await screen.allInnerTexts()).join().includes('wrote-wrld'))
    await shows(page, 'Read-only')
    await checked('terminal')

    // The dialog is answered in the inbox, and the terminal goes on.
    await look('inbox')
    await answerYes(page, /wrote-wrld/)
    const inState = async (state: string) => {
      await until(async () => (await hub.task(id)).state === state).catch(() => assert.fail(lines()))
      return hub.task(id)
    }
    await inState('IN_REVIEW')
    await look(`tasks/${id}`)
    await shows(page, 'The greeting says hello wrld.')
    await shows(page, '1 check failed.')
    await checked('review')

    // A comment at the line, and back it goes. Meanwhile the page sleeps and the hub is killed.
    const line = page.locator('.diff-lines .code.added', { hasText: 'hello wrld' })
    await line.focus()
    await page.keyboard.press('c')
    await page.getByRole('textbox', { name: 'Comment on greeting.txt:1' }).fill(complaint)
    await page.keyboard.press('Control+Enter')
    await page.locator('.talk .comment').getByText(complaint).waitFor()
    await checked('comment')
    await page.getByRole('button', { name: /^Send back with the comment/ }).click()
    await until(async () => (await hub.task(id)).state !== 'IN_REVIEW')
    const session = await page.context().newCDPSession(page)
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    await rig.killHub()
    await rig.serveAgain()
    await until(async () => (await hub.agents()).some(({ asks }) => /wrote-world/.test(asks?.text ?? '')))
    await session.send('Page.setWebLifecycleState', { state: 'active' })
    await look('inbox')
    await answerYes(page, /wrote-world/)
    await inState('IN_REVIEW')

    // The page shows the changes since the last look, and the merge.
    await look(`tasks/${id}`)
    await shows(page, 'The greeting says hello world.')
    await shows(page, '1 check passed.')
    await page
      .locator('.changes select option:checked', { hasText: 'since my last look (try 1 → 2)' })
      .waitFor({ state: 'attached' })
    const drawn = page.locator('.diff-lines .code:is(.added, .removed)')
    await until(async () => (await drawn.count()) === 2)
    assert.deepEqual(await drawn.allTextContents(), ['removed: −hello wrld', 'added: +hello world'])
    await checked('second review')
    await page.getByRole('button', { name: /^Approve and merge/ }).click()
    await inState('APPROVED')
    await shows(page, `was merged into`)
    assert.equal(readFileSync(join(rig.cwd, 'greeting.txt'), 'utf8'), 'hello world\n')
    assert.equal(await rig.git('status', '--porcelain'), '')

    // The agent is killed.
    await look(`agents/${claude}`)
    await until(async () => (await screen.allInnerTexts()).join().includes('hello world'))
    const over = once(agent, 'exit')
    agent.kill('SIGKILL')
    await over
    await page.locator('h1 .state', { hasText: 'offline' }).waitFor()
    // Claude Code itself is in tmux, and goes on.
    await shows(page, 'without its supervisor')
    await checked('offline')
    assert.deepEqual([complaints, outside, faults], [[], [], []])
  },
)

/** Answers the question of an agent that holds a text with its first yes. */
async function answerYes(page: Page, wanted: RegExp): Promise<void> {
  const row = page.locator('.row', { hasText: wanted })
  await row.first().waitFor({ timeout: 60_000 })
  await row.getByRole('button', { name: /Yes/ }).first().click()
}
