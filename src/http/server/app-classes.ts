import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** An Express app, for files outside of `http`. */
export type App = Express;

/** What Node's server makes of each request. */
export type AppClasses = {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
};

/**
 * Returns the classes of an app's requests and responses, for Node's server. Express sets the prototypes of each request,
 * after which V8 reads all of its properties more slowly. Objects of these classes have them from the start.
 */
export function classesOf(app: Express): AppClasses {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype });
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
