import { createTest } from 'petstore-sandbox/vitest'
import { expect } from 'vitest'
import { client } from '../client/board/client.gen'
import {
  tasksControllerCreate as createTask,
  boardsControllerFindAll as listBoards,
  tasksControllerFindByBoard as listTasks,
  authControllerLogin as login,
} from '../client/board/sdk.gen'

const test = createTest({ spec: 'board.json', generate: ['boards=3', 'tasks=6', 'comments=9'], seed: 1 })

async function logIn(baseUrl: string): Promise<void> {
  client.setConfig({ baseUrl, auth: undefined })
  const { data } = await login({ body: { email: 'ada@example.com', password: 'secret' }, throwOnError: true })
  client.setConfig({ auth: data.accessToken })
}

test('adds a task to a board', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl)
  const boards = (await listBoards({ throwOnError: true })).data
  const path = { boardId: boards.data[0]?.id ?? '' }
  const { data: task } = await createTask({ path, body: { title: 'Paint' }, throwOnError: true })
  expect(task).toMatchObject({ ...path, title: 'Paint', status: 'todo', priority: 1, labels: [], deletedAt: null })
  expect((await listTasks({ path, throwOnError: true })).data.data[0]?.id).toBe(task.id)
})

test('gets the problems of a form one by one', async ({ sandbox }) => {
  await logIn(sandbox.baseUrl)
  const [board] = (await listBoards({ throwOnError: true })).data.data
  const { error } = await createTask({
    path: { boardId: board?.id ?? '' },
    body: { title: '', priority: 9 },
  })
  expect(error).toMatchObject({ statusCode: 400, message: [expect.any(String), expect.any(String)] })
})
