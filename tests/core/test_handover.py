def test_smoke(desk):
    p = desk.call()
    print(p.plan.package.text); print(desk.briefings()); print(desk.answer(p))
