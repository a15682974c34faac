import type { AnswerForm } from '../core/work/agent.ts'
import type { Blobs } from '../core/talk/store.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '../base/error-message.ts'
import { UsageError } from '../core/io.ts'
import { readText } from '../core/talk/store.ts'
import { tag } from '../core/talk/transcript.ts'
import { parseAnswer } from '../core/data/json-answer.ts'

/** The schema that answers must match, ready to check them, and the text that asks an agent for it. */
type OutputSchema = { instruction: string; form(blobs: Blobs): AnswerForm }

/** Reads the file of `--output-schema`. A file that is not a JSON Schema is bad usage. */
export async function readOutputSchema(path: string, cwd: string): Promise<OutputSchema> {
  const wrong = (why: string) => new UsageError(`--output-schema: ${path} ${why}.`)
  const schema = schemaIn(resolve(cwd, path), wrong)
  // The validator is part of the MCP client; only a run with this flag loads it.
  const { Ajv, addFormats } = await import('@modelcontextprotocol/client/validators/ajv')
  // The validator would ignore a keyword that it does not know, so a schema with such a keyword is refused.
  const ajv = new Ajv({ strict: false, strictSchema: true, allErrors: true })
  addFormats(ajv)
  const { $schema: _dialect, ...body } = schema
  let validate: ReturnType<typeof ajv.compile>
  try {
    validate = ajv.compile(body)
  } catch (error) {
    throw wrong(`is not a JSON Schema that can be checked: ${messageOf(error).replace(/\.$/, '')}`)
  }
  const parse = (value: unknown) => {
    if (validate(value)) return value
    throw new Error(ajv.errorsText(validate.errors, { separator: '; ', dataVar: 'the answer' }))
  }
  return {
    instruction: `Answer with JSON that matches this JSON Schema. Write nothing but the JSON: no words around it, and no code fence.\n${tag('schema', '', JSON.stringify(schema))}`,
    form: (blobs) => ({
      schema,
      async check({ text, whole }) {
        const all = (whole ? await readText(blobs, whole) : text).trim()
        const value = jsonIn(all)
        // If an answer has text around its JSON, it is parsed like the answer of an agent that reasons first.
        const read = parseAnswer(value === undefined ? all : `\`\`\`\n${JSON.stringify(value)}\n\`\`\``, { parse })
        return read.ok ? { json: value === undefined ? JSON.stringify(read.value) : all } : { why: read.why }
      },
    }),
  }
}

/** The parsed value of a text that is JSON from beginning to end. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function schemaIn(file: string, wrong: (why: string) => UsageError): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw wrong(`cannot be read: ${messageOf(error)}`)
  }
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch (error) {
    throw wrong(`is not JSON: ${messageOf(error)}`)
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw wrong('is not a JSON Schema: it must hold one object')
  return schema as Record<string, unknown>
}
