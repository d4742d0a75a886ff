-- For wrk, which has no flag for a method or a body.
wrk.method = "POST"
wrk.body = '{"name":"Rex","categoryId":1,"status":"available"}'
wrk.headers["Content-Type"] = "application/json"
