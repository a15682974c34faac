import type { Fields, ObjectOf, TypeOf } from '../../../core/data/shape.ts'
import type { Operation, ParamOf } from './operation.ts'
import { agentOperations } from './agent-operations.ts'
import { machineOperations, operatorOperations } from './machine-operations.ts'
import { peopleOperations } from './people-operations.ts'
import { pipelineOperations } from './pipeline-operations.ts'
import { stateOperations } from './state-operations.ts'
import { storageOperations } from './storage-operations.ts'
import { taskOperations } from './task-operations.ts'

/**
 * Every operation of the hub, by its name. The routes, the clients, the checks of a request and the description of the API come from this
 * table. The server itself answers a few other addresses: streams, sockets, and requests that need no key.
 */
export const operations = {
  ...agentOperations,
  ...taskOperations,
  ...pipelineOperations,
  ...peopleOperations,
  ...machineOperations,
  ...operatorOperations,
  ...stateOperations,
  ...storageOperations,
}

type Operations = typeof operations
export type OperationName = keyof Operations

/** The named parts of the path of an operation. */
export type ParamsOf<N extends OperationName> = Record<ParamOf<N>, string>

/** The fields of the query or the body of an operation. */
export type FieldsOf<N extends OperationName> = N extends OperationName
  ? Operations[N] extends { input: infer F extends Fields }
    ? ObjectOf<F>
    : object
  : never

/** The values for the named parts of a path. */
export type FilledParams<N extends OperationName> = Record<ParamOf<N>, string | number>

/** The fields of an operation as a client sends them, with lists as lists. */
export type SentFields<N extends OperationName> = Sent<FieldsOf<N>>
type Sent<T> = T extends (infer Each)[]
  ? readonly Sent<Each>[]
  : T extends object
    ? { [Name in keyof T]: Sent<T[Name]> }
    : T

export type AnswerOf<N extends OperationName> = TypeOf<Operations[N]['output']>

/** The shapes of the fields of an operation. */
export const inputOf = <N extends OperationWithInput>(name: N): Operations[N]['input'] => operations[name].input
type OperationWithInput = { [N in OperationName]: Operations[N] extends { input: Fields } ? N : never }[OperationName]

/** The operations with a certain method and, optionally, a certain path or answer. */
export type OperationsWith<Name extends string, Answer = unknown> = {
  [N in OperationName]: N extends Name ? (AnswerOf<N> extends Answer ? N : never) : never
}[OperationName]

export const operationEntries = Object.entries(operations) as [OperationName, Operation][]
