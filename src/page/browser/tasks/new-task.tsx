import type { Task } from '../../../hub/model/tasks/task.ts'
import { mainKey, workspaceName } from '../../../hub/model/tasks/workspace.ts'
import { request } from '../hub/page-request.ts'
import { useState } from 'preact/hooks'
import type { SentFile } from './attachment-list.tsx'
import { act, tell } from '../hub/act.ts'
import { AttachField, attach } from './attachment-list.tsx'
import { agents, tasks } from '../hub/page-state.ts'
import { firstLine, stateName } from '../words/words.ts'

/** The empty fields of a new task. */
const emptyTask = { prompt: '', workspace: '', wish: '', priority: '', capabilities: '', cost: '' }

const wordsIn = (text: string) => text.split(/[\s,]+/).filter((word) => word !== '')

/** The form of a new task. Enter adds it, Shift+Enter begins a new line. */
export function NewTask() {
  const [fields, setFields] = useState(emptyTask)
  const [needs, setNeeds] = useState<readonly string[]>([])
  const [files, setFiles] = useState<readonly SentFile[]>([])
  const known = [...new Set([...agents.value.values()].map(mainKey))]
  const where = fields.workspace === '' ? (known[0] ?? '') : fields.workspace
  const field = (name: keyof typeof emptyTask, label: string, placeholder: string, list?: string) => (
    <input
      aria-label={label}
      placeholder={placeholder}
      value={fields[name]}
      list={list}
      onInput={(event) => setFields({ ...fields, [name]: event.currentTarget.value })}
    />
  )
  const add = () => {
    const { prompt, wish, priority, capabilities, cost } = fields
    if (prompt.trim() === '' || where === '') return
    const task = {
      prompt,
      workspace: where,
      wish: wish || undefined,
      priority: priority === '' ? undefined : Number(priority),
      capabilities: wordsIn(capabilities),
      needs,
      attachments: files.length === 0 ? undefined : files.map(({ id, name }) => ({ id, name })),
      cap: cost === '' ? undefined : { cost: Number(cost) },
    }
    act(request('POST /api/tasks'), task, () => {
      tell(`Added: ${firstLine(prompt)}`)
      // Text that the person typed in the meantime is for the next task.
      setFields((now) => (now.prompt === prompt ? { ...emptyTask, workspace: now.workspace } : now))
      setNeeds([])
      setFiles([])
    })
  }
  return (
    <form
      class="new-task"
      onDragOver={(event) => event.dataTransfer?.types.includes('Files') && event.preventDefault()}
      onDrop={(event) => {
        if (!event.dataTransfer?.files.length) return
        event.preventDefault()
        void attach({ files, setFiles }, [...event.dataTransfer.files])
      }}
      onPaste={(event) => {
        if (!event.clipboardData?.files.length) return
        event.preventDefault()
        void attach({ files, setFiles }, [...event.clipboardData.files])
      }}
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <div class="line view-keys">
        <textarea
          aria-label="What is to be done"
          placeholder="New task: what is to be done ( n )"
          rows={Math.min(12, fields.prompt.split('\n').length)}
          value={fields.prompt}
          onInput={(event) => setFields({ ...fields, prompt: event.currentTarget.value })}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            add()
          }}
        />
        {field('workspace', 'Workspace', known[0] ?? 'workspace (a folder)', 'workspaces')}
        <button type="submit">Add</button>
        <button
          type="button"
          class="sr-only"
          data-key="n"
          tabIndex={-1}
          onClick={() => document.querySelector<HTMLTextAreaElement>('.new-task textarea')?.focus()}
        >
          New task
        </button>
      </div>
      <AttachField files={files} setFiles={setFiles} />
      <details>
        <summary>Agent, priority, capabilities, tasks that come first, cap</summary>
        <div class="line">
          {field('wish', 'Agent that the task is meant for', 'any agent', 'known-agents')}
          {field('priority', 'Priority', 'priority, 0 as usual')}
          {field('capabilities', 'Capabilities that the agent needs', 'capabilities, such as rust sql')}
          {field('cost', 'Cap on the cost in dollars', 'cap in dollars, such as 2.50')}
        </div>
        <NeedsField needs={needs} setNeeds={setNeeds} />
      </details>
      <datalist id="workspaces">
        {known.map((path) => (
          <option value={path} key={path} label={workspaceName(path)} />
        ))}
      </datalist>
      <datalist id="known-agents">
        {[...agents.value.keys()].map((id) => (
          <option value={id} key={id} />
        ))}
      </datalist>
    </form>
  )
}

/** The most tasks that are offered for a search. */
const mostOffered = 6

type NeedsProps = { needs: readonly string[]; setNeeds(needs: readonly string[]): void }

/** The tasks that must be done first, found by a search. */
function NeedsField({ needs, setNeeds }: NeedsProps) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const fits = ({ id, prompt }: Task) =>
    !needs.includes(id) && (id.toLowerCase().includes(words) || prompt.toLowerCase().includes(words))
  const offered =
    words === ''
      ? []
      : [...tasks.value.values()]
          .filter(fits)
          .toSorted((a, b) => b.created - a.created)
          .slice(0, mostOffered)
  return (
    <div class="needs">
      <input
        type="text"
        aria-label="Search for a task that must be done first"
        placeholder="tasks that come first: search for one"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = offered
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (!first) return
          setNeeds([...needs, first.id])
          setSearch('')
        }}
      />
      {needs.map((id) => (
        <button
          type="button"
          class="chip"
          key={id}
          aria-label={`Remove: ${firstLine(tasks.value.get(id)?.prompt ?? id)}`}
          onClick={() => setNeeds(needs.filter((one) => one !== id))}
        >
          {firstLine(tasks.value.get(id)?.prompt ?? id).slice(0, 60)} ×
        </button>
      ))}
      {offered.length === 0 ? null : (
        <ul class="offered" aria-label="Tasks that match the search">
          {offered.map((task) => (
            <li key={task.id}>
              <button
                type="button"
                onClick={() => {
                  setNeeds([...needs, task.id])
                  setSearch('')
                }}
              >
                {firstLine(task.prompt).slice(0, 80)} <span class="quiet">{stateName(task)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
