import { test } from 'node:test'
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '../../src/cli/arguments/args.ts'
import { chatCommand } from '../../src/cli/chat-command.ts'
import { commands } from '../../src/cli/commands.ts'
import { faultsIn, faultWords } from '../../src/core/data/shape.ts'
import { parseJsonc } from '../../src/settings/jsonc.ts'
import { modelsForm } from '../../src/settings/models-file.ts'
import { listForm, projectForm } from '../../src/settings/settings-schema.ts'
import { commandsIn } from '../../src/safety/shell/rough-commands.ts'
import { blocksOf, pages, stepsOf, textOf } from './page-blocks.ts'
import { reasonNotToRun, unrun } from './unrun-commands.ts'

const root = join(import.meta.dirname, '..', '..')

test('the program knows every flag of the commands that no test runs', () => {
  for (const page of pages())
    for (const step of stepsOf(textOf(page))) {
      if (step.is !== 'command' || reasonNotToRun(step.text) === undefined) continue
      for (const words of commandsIn(step.text.replaceAll(/\s#.*$/gm, ''))) {
        const [name, ...rest] = words.map(({ text: raw, values }) => values?.[0] ?? raw.replaceAll(/["']/g, ''))
        if (name !== 'termaite') continue
        const command = commands.find((one) => one.name === rest[0])
        assert.doesNotThrow(
          () => parse(command ?? chatCommand, command ? rest.slice(1) : rest),
          `${page}, line ${step.line}`,
        )
      }
    }
})

test('every block of settings is one that termaite takes', () => {
  for (const page of pages())
    for (const { language, line, text: block } of blocksOf(textOf(page))) {
      if (language !== 'jsonc') continue
      const { value } = parseJsonc(page, block)
      const faults = [listForm, projectForm, modelsForm].map((form) => faultsIn(form, value).map(faultWords))
      assert.ok(
        faults.some((found) => found.length === 0),
        `${page}, line ${line}: ${JSON.stringify(faults)}`,
      )
    }
})

test('every link of the pages leads to a file that is there, and to a heading in it', () => {
  const headings = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, words]) =>
      words!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )
  const lost = pages().flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([link, path, heading]) => {
      const file = path === '' ? page : join(dirname(page), path!)
      if (!existsSync(join(root, file))) return [`${page}: ${link}`]
      return heading === undefined || headings(textOf(file)).includes(heading) ? [] : [`${page}: ${link}`]
    }),
  )
  assert.deepEqual(lost, [])
})

test('every block names its language, so that no command escapes these tests', () => {
  const unnamed = pages().flatMap((page) =>
    blocksOf(textOf(page)).flatMap(({ language, line }) => (language === '' ? [`${page}, line ${line}`] : [])),
  )
  assert.deepEqual(unnamed, [])
})

test('each reason not to run a command is needed', () => {
  const all = pages().flatMap((page) => stepsOf(textOf(page)))
  const unused = unrun.filter(([part]) => !all.some((step) => step.is === 'command' && step.text.includes(part)))
  assert.deepEqual(unused, [])
})
