import type { HomeRow } from '../../src/home/home-table.ts'
import { asideRow, homeTable, personTable, projectTable, runTable } from '../../src/home/home-table.ts'
import { instructionNames } from '../../src/native/loop/instructions.ts'
import { steering } from '../../src/safety/trust/steering-files.ts'
import { todoFile } from '../../src/native/tools/todo/todo-list.ts'
import { code, page, plain, table } from './page.ts'

export function fileReference(): string {
  const heads = ['path', 'what', 'format', '']
  const rows = (all: readonly HomeRow[]) =>
    all.map(({ path, what, format, made }) => [code(path), plain(what), format, made ? 'can be made again' : ''])
  return page(
    'Files on disk',
    '`termaite where` lists the files that there are, with their sizes; `termaite forget` erases a project, and `termaite uninstall` everything. Files that termaite does not know are never touched.',
    '## In termaite’s home',
    '`TERMAITE_HOME`, which is `~/.termaite` where it is not set; only you can read it.',
    table(heads, rows([...homeTable, ...runTable, asideRow])),
    '## Of a project, in `projects/<slug>/` of the home',
    'The slug is the readable path of the project and a short hash of its real path.',
    table(heads, rows(projectTable)),
    '## Written by you, in termaite’s home',
    table(
      ['path', 'what', 'format'],
      rows(personTable).map((row) => row.slice(0, 3)),
    ),
    '## In a project',
    'These can run code or steer an agent, and count once the folder is trusted:',
    table(
      ['path', 'what'],
      Object.entries(steering).map(([path, what]) => [code(path), what]),
    ),
    'Instruction files are read in every folder from the project to where an agent works. Of each row the first one that is there counts:',
    table(
      ['files', 'what'],
      instructionNames.map((names) => [names.map(code).join(', '), 'instructions for agents']),
    ),
    'termaite writes these:',
    table(
      ['path', 'what', 'format'],
      [
        [code(todoFile), 'the list of things to do of termaite’s own agent', 'JSON'],
        [code('.termaite/sessions/<id>/session.json'), 'the state of a supervised agent', 'JSON'],
        [code('.termaite/logs/<agent>-<time>.log'), 'the output of a supervised agent', 'text'],
        [code('.termaite/task-files/'), 'files of the task that an agent works on', 'folder'],
      ],
    ),
    '## Compiled code',
    '`$XDG_CACHE_HOME/termaite`, which is `~/.cache/termaite` where that is not set, holds compiled code, in a folder for each build, and can be deleted at any time. The first run of a build removes the folders of other builds that were not written for three days. `program-<build>` in it is the unpacked single file, which may be deleted while no termaite runs; a new build removes those of others that were not started for a month and do not run.',
  )
}
