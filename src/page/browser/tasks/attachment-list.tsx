import type { Attachment } from '../../../hub/model/tasks/attachment.ts'
import type { Task } from '../../../hub/model/tasks/task.ts'
import { useEffect, useState } from 'preact/hooks'
import { sizeWords } from '../../../base/text/size-words.ts'
import { longestAttachment, mostAttachments } from '../../../hub/model/tasks/attachment.ts'
import { refused } from '../hub/act.ts'
import { proof, refusalOf } from '../hub/page-connection.ts'
import { request } from '../hub/page-request.ts'

/** A file that was sent to the hub for a task that is not added yet. */
export type SentFile = { id: string; name: string; bytes: number }

async function send(file: File): Promise<SentFile> {
  const response = await fetch(request('POST /api/attachments').path, {
    method: 'POST',
    headers: { ...proof(), 'content-type': 'application/octet-stream' },
    body: file,
    credentials: 'same-origin',
  })
  if (!response.ok) throw await refusalOf(response)
  return { ...((await response.json()) as { id: string; bytes: number }), name: file.name }
}

type FieldProps = { files: readonly SentFile[]; setFiles(files: readonly SentFile[]): void }

/** Sends files to the hub, as many as one task may have; a refused file is named. */
export async function attach({ files, setFiles }: FieldProps, chosen: readonly File[]): Promise<void> {
  let all = files
  for (const file of chosen) {
    if (all.length >= mostAttachments) {
      refused.value = `A task takes at most ${mostAttachments} files.`
      return
    }
    try {
      if (file.size > longestAttachment) throw new Error(`it is larger than ${sizeWords(longestAttachment)}.`)
      all = [...all, await send(file)]
      setFiles(all)
    } catch (error) {
      refused.value = `${file.name} was not attached: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

/** The files of a new task: chosen, dropped on the form or pasted. */
export function AttachField({ files, setFiles }: FieldProps) {
  return (
    <div class="attach">
      <label class="file">
        Attach files or pictures
        <input
          class="sr-only"
          type="file"
          multiple
          onInput={({ currentTarget }) => {
            void attach({ files, setFiles }, [...(currentTarget.files ?? [])])
            currentTarget.value = ''
          }}
        />
      </label>
      {files.map(({ id, name, bytes }) => (
        <button
          type="button"
          class="chip"
          key={id}
          aria-label={`Take away: ${name}`}
          onClick={() => setFiles(files.filter((one) => one.id !== id))}
        >
          {name} <span class="quiet">{sizeWords(bytes)}</span> ×
        </button>
      ))}
    </div>
  )
}

/** The files of a task; pictures are shown. */
export function TaskFiles({ task }: { task: Task }) {
  const { id, attachments = [] } = task
  if (attachments.length === 0) return null
  return (
    <ul class="task-files" aria-label="Files of the task">
      {attachments.map((file, at) => (
        <li key={file.name}>
          <TaskFile path={request('GET /api/tasks/:id/attachments/:number', { id, number: at + 1 }).path} file={file} />
        </li>
      ))}
    </ul>
  )
}

/** Pictures up to this size are shown without a click. */
const longestShown = 4_000_000

function TaskFile({ path, file }: { path: string; file: Attachment }) {
  const [picture, setPicture] = useState('')
  const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(file.media) && file.bytes <= longestShown
  useEffect(() => {
    if (isPicture) readFile(path, file).then(setPicture, () => {})
  }, [path])
  const save = () => {
    readFile(path, file).then(
      (href) => Object.assign(document.createElement('a'), { href, download: file.name }).click(),
      (error: Error) => (refused.value = error.message),
    )
  }
  return (
    <>
      {picture === '' ? null : <img src={picture} alt={file.name} />}
      <button onClick={save}>
        {file.name} <span class="quiet">{sizeWords(file.bytes)}</span>
      </button>
    </>
  )
}

/** A file as a data URL, which needs no further request. */
async function readFile(path: string, { media }: Attachment): Promise<string> {
  const response = await fetch(path, { headers: proof(), credentials: 'same-origin' })
  if (!response.ok) throw await refusalOf(response)
  const blob = new Blob([await response.arrayBuffer()], {
    type: media === 'text/plain' ? 'application/octet-stream' : media,
  })
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(new Error('The file could not be read.'))
    reader.readAsDataURL(blob)
  })
}
